import type { Score } from "../../api";
import { ChartView } from "../../charts/ChartView";
import { Flow } from "../../parts/Fold";
import { texts } from "../../texts";
import { formatValue, isShare, sentence, words } from "../../words";

/** Every measure of what was lost, in a line. */
export function LossTable({ scores }: { scores: Score[] }) {
  return (
    <table className="numbers summary loss">
      <thead>
        <tr>
          <th scope="col">{texts.result.measure}</th>
          <th scope="col">{texts.result.value}</th>
        </tr>
      </thead>
      <tbody>
        {scores.map((score) => (
          <tr key={score.name}>
            <th scope="row">
              <strong>{words(score.name)}</strong>
              <span className="small quiet">{sentence(score.meaning)}</span>
            </th>
            <td>
              <strong>{formatValue(score.value, score.percent)}</strong>
              <span className="small quiet">{texts.result.better[score.better]}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One measure with all of its numbers and charts. */
export function ScoreDetails({ score }: { score: Score }) {
  return (
    <Flow>
      {score.charts.map((chart) => (
        <ChartView key={chart.title} chart={chart} />
      ))}
      <table className="numbers small-table">
        <tbody>
          {Object.entries(score.measured)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{words(name)}</th>
                <td>{score.units?.[name] ? `${formatValue(value, false)}\u00a0${score.units[name]}` : formatValue(value, isShare(name, value))}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Flow>
  );
}
