import type { Publication } from "../../api";
import { linesOf } from "../../results";
import { texts } from "../../texts";
import { asNumber, formatNumber, formatValue, valueText, words } from "../../words";

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
  const { measured } = result.verdict;
  return (
    <table className="numbers small-table narrow">
      <tbody>
        {Object.entries(measured)
          .filter(([name]) => !(name.endsWith("_exact") && name.slice(0, -6) in measured))
          .map(([name, value]) => {
            const number = asNumber(value);
            const share = ["confidence", "max_share", "probability"].some((part) => name.includes(part));
            return (
              <tr key={name}>
                <th scope="row">{words(name)}</th>
                <td>{number === null ? valueText(value) : formatValue(number, share)}</td>
              </tr>
            );
          })}
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
