import { Head } from "../parts/Parts";
import { linkTo } from "../route";
import { texts } from "../texts";

/** The report of a run, as the file has it: it brings its own policy and none of the rights of this page. */
export function Report({ id }: { id: string }) {
  const at = `/api/runs/${encodeURIComponent(id)}`;
  return (
    <>
      <Head title={texts.result.reportTitle} />
      <p className="buttons">
        <a className="button" href={linkTo("run", id)}>
          {texts.result.reportBack}
        </a>
        <a className="button" href={`${at}/report.html`} download>
          {texts.result.reportDownload}
        </a>
      </p>
      <iframe className="report-frame" src={`${at}/report`} sandbox="allow-scripts" title={texts.result.reportTitle} data-testid="report-frame" />
    </>
  );
}
