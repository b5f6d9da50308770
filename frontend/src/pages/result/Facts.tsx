import type { Publication } from "../../api";
import { linesOf } from "../../results";
import { texts } from "../../texts";
import { formatNumber, words } from "../../words";

/** What went in, came out, was suppressed and was invented. */
export function Balance({ balance }: { balance: Publication["balance"] }) {
  const columns = Object.keys(texts.result.balanceColumns);
  return (
    <table className="numbers stack four">
      <thead>
        <tr>
          <th scope="col">{texts.result.what}</th>
          {columns.map((column) => (
            <th scope="col" key={column}>
              {texts.result.balanceColumns[column]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {Object.entries(balance ?? {}).map(([what, row]) => (
          <tr key={what}>
            <th scope="row">{words(what)}</th>
            {columns.map((column) => (
              <td key={column} data-label={texts.result.balanceColumns[column]}>
                {formatNumber(row[column])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Every number of the verifier. */
export function Judged({ result }: { result: Publication }) {
  return (
    <table className="numbers small-table narrow">
      <tbody>
        {Object.entries(result.verdict.numbers).map(([name, number]) => (
          <tr key={name}>
            <th scope="row">{number.label}</th>
            <td>{number.value === null ? number.exact || number.text : number.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A counter-example, which may point to people. */
export function Witness({ witness }: { witness: Record<string, unknown> }) {
  return (
    <details className="fold">
      <summary>{texts.result.witness}</summary>
      <p className="warning">{texts.result.witnessWarning}</p>
      <dl className="facts-list">
        {Object.entries(witness)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{words(name)}</dt>
              <dd dir="auto">{linesOf(value).join("; ")}</dd>
            </div>
          ))}
      </dl>
    </details>
  );
}
