import { useState } from "preact/compat";
import { api, type StoredFile } from "../api";
import { forgetDraft } from "../draft";
import { messageOf, useAsked } from "../hooks";
import { RecipeOpener } from "../parts/RecipeOpener";
import { DropZone } from "../parts/Upload";
import { Failure, Head, Section } from "../parts/Parts";
import { goTo, linkTo } from "../route";
import { texts } from "../texts";
import { formatBytes, formatDate } from "../words";

export function Files({ most, changed }: { most: number | null; changed: () => void }) {
  const files = useAsked("files", api.files);
  const [error, setError] = useState<string | null>(null);
  const data = (files.value ?? []).filter((file) => file.role === "data");
  const beside = (files.value ?? []).filter((file) => file.role !== "data");
  const remove = async (file: StoredFile) => {
    if (!window.confirm(texts.files.sure(file.name))) return;
    setError(null);
    try {
      await api.deleteFile(file.id);
      forgetDraft(file.id);
      files.again();
      changed();
    } catch (failed) {
      setError(messageOf(failed));
    }
  };
  return (
    <>
      <Head title={texts.files.title} lead={texts.files.lead} />
      <DropZone
        most={most}
        done={(file) => {
          changed();
          goTo("columns", file.id);
        }}
      />
      <p className="quiet local">{texts.files.local}</p>
      <RecipeOpener />
      {(files.error || error) && <Failure message={files.error ?? error ?? ""} again={files.error ? files.again : undefined} />}
      {data.length > 0 && (
        <Section title={texts.files.earlier}>
          <ul className="rows">
            {data.map((file) => (
              <FileRow key={file.id} file={file} remove={remove} />
            ))}
          </ul>
        </Section>
      )}
      {beside.length > 0 && (
        <details className="fold">
          <summary>{texts.files.beside}</summary>
          <ul className="rows">
            {beside.map((file) => (
              <FileRow key={file.id} file={file} remove={remove} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function FileRow({ file, remove }: { file: StoredFile; remove: (file: StoredFile) => void }) {
  return (
    <li className="row" data-testid="file-row">
      <div className="row-main">
        {file.role === "data" ? (
          <a className="row-title" href={linkTo("columns", file.id)}>
            {file.name}
          </a>
        ) : (
          <span className="row-title">{file.name}</span>
        )}
        <span className="quiet small">
          {file.role !== "data" && `${texts.side.titles[file.role]} · `}
          {formatBytes(file.bytes)}
          {file.created && ` · ${formatDate(file.created)}`}
          {file.used_by && ` · ${texts.files.used(file.used_by.length)}`}
        </span>
      </div>
      <div className="row-actions">
        {file.role === "data" && (
          <a className="button" href={linkTo("columns", file.id)}>
            {texts.files.go}
          </a>
        )}
        <button type="button" className="button quiet-danger" aria-label={texts.files.removeNamed(file.name)} onClick={() => remove(file)}>
          {texts.files.remove}
        </button>
      </div>
    </li>
  );
}
