import { Flow } from "../../parts/Fold";
import { texts } from "../../texts";
import type { QuestionData, ScoreData } from "../../visual/results";
import { ChartView } from "../../visual/Visual";
import { sentence, words } from "../../words";

/** Everyday questions of use, with what was measured. */
export function Questions({ questions }: { questions: QuestionData[] }) {
  return (
    <table className="numbers summary loss">
      <tbody>
        {questions.map((one) => (
          <tr key={one.question}>
            <th scope="row">
              <strong>{one.question}</strong>
              <span className="small quiet">{one.meaning}</span>
            </th>
            <td>
              <strong>
                {one.answer} {one.value}
              </strong>
              <span className="small quiet">{one.kept}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Every measure of what was lost, in a line. */
export function LossTable({ scores }: { scores: ScoreData[] }) {
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
              <strong>{score.text}</strong>
              <span className="small quiet">{texts.result.better[score.better]}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One measure with all of its numbers and charts. */
export function ScoreDetails({ score }: { score: ScoreData }) {
  return (
    <Flow>
      {score.charts.map((chart) => (
        <ChartView key={chart.title} chart={chart} />
      ))}
      <table className="numbers small-table">
        <tbody>
          {Object.entries(score.numbers)
            .filter(([, number]) => number.value !== null)
            .map(([name, number]) => (
              <tr key={name}>
                <th scope="row">{number.label}</th>
                <td>{number.text}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Flow>
  );
}
