/** Taking files in: the place to drop one, and the choice of a file that stands beside the data. */
import { type DragEvent, useEffect, useId, useRef, useState } from "preact/compat";
import { api, type FileRole, type StoredFile, upload } from "../api";
import type { FileRef } from "../draft";
import { messageOf, useAsked } from "../hooks";
import { texts } from "../texts";
import { formatBytes, formatPercent } from "../words";
import { Failure, Meter } from "./Parts";

interface Sending {
  name: string;
  share: number;
  stop: AbortController;
}

/** Sends a file and tells how far it is; one at a time. */
function useUpload(role: FileRole, most: number | null, done: (file: StoredFile) => void) {
  const [sending, setSending] = useState<Sending | null>(null);
  const [error, setError] = useState<string | null>(null);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const send = async (file: File): Promise<void> => {
    setError(null);
    if (file.size === 0) return setError(texts.errors.empty);
    if (most !== null && file.size > most) return setError(texts.errors.tooLarge(formatBytes(file.size), formatBytes(most)));
    const stop = new AbortController();
    current.current = stop;
    setSending({ name: file.name, share: 0, stop });
    try {
      const stored = await upload(file, role, (share) => setSending({ name: file.name, share, stop }), stop.signal);
      setSending(null);
      done(stored);
    } catch (failed) {
      setSending(null);
      setError(messageOf(failed));
    }
  };
  return { sending, error, setError, send };
}

export function DropZone({ most, done }: { most: number | null; done: (file: StoredFile) => void }) {
  const { sending, error, setError, send } = useUpload("data", most, done);
  const [over, setOver] = useState(false);
  const id = useId();
  const dropped = (event: DragEvent<HTMLElement>) => {
    event.preventDefault();
    setOver(false);
    const files = event.dataTransfer?.files ?? [];
    if (files.length > 1) setError(texts.files.multiple);
    else if (files.length === 1) void send(files[0]);
  };
  return (
    <>
      <div
        className={`drop${over ? " over" : ""}`}
        data-testid="drop-zone"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={dropped}
      >
        {sending ? (
          <div className="sending" role="status">
            <p>
              {texts.files.sending(sending.name)}: {formatPercent(Math.round(sending.share * 100) / 100)}
            </p>
            <Meter share={sending.share} label={texts.files.sending(sending.name)} />
            <button type="button" className="button" onClick={() => sending.stop.abort()}>
              {texts.files.stop}
            </button>
          </div>
        ) : (
          <>
            <svg className="drop-sign" viewBox="0 0 48 48" aria-hidden="true">
              <path d="M24 32 V10 M15 18 L24 9 L33 18 M8 30 V39 H40 V30" />
            </svg>
            <p className="drop-title">{texts.files.drop}</p>
            <p className="quiet">{texts.files.or}</p>
            <input
              className="file-input"
              type="file"
              id={id}
              data-testid="file-input"
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                event.currentTarget.value = "";
                if (file) void send(file);
              }}
            />
            <label className="button primary" htmlFor={id}>
              {texts.files.choose}
            </label>
            <p className="quiet small">
              {texts.files.formats}
              {most !== null && `, ${texts.files.limit(formatBytes(most))}`}
            </p>
          </>
        )}
      </div>
      {error && <Failure message={error} />}
    </>
  );
}

/** A file that the data need: sent now, or one from before. */
export function SideFile({ role, chosen, choose, about }: { role: FileRole; chosen: FileRef | undefined; choose: (file: FileRef | undefined) => void; about?: string }) {
  const files = useAsked(`files ${role}`, api.files);
  const { sending, error, send } = useUpload(role, null, (file) => {
    choose({ id: file.id, name: file.name });
    files.again();
  });
  const id = useId();
  const earlier = (files.value ?? []).filter((file) => file.role === role);
  return (
    <div className={`side-file${chosen ? " there" : ""}`} data-testid={`side-${role}`}>
      <div>
        <h3>{texts.side.titles[role]}</h3>
        <p className="quiet small">{about ?? texts.side.about[role]}</p>
        {chosen && <p className="side-name">✓ {chosen.name}</p>}
        {sending && (
          <p role="status" className="small">
            {texts.side.sending(formatPercent(Math.round(sending.share * 100) / 100))}
          </p>
        )}
      </div>
      <div className="side-choice">
        <input
          className="file-input"
          type="file"
          id={`${id}file`}
          data-testid={`file-input-${role}`}
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            event.currentTarget.value = "";
            if (file) void send(file);
          }}
        />
        <label className={`button${chosen ? "" : " primary"}`} htmlFor={`${id}file`}>
          {chosen ? texts.side.other : texts.side.choose}
        </label>
        {earlier.length > 0 && (
          <div className="side-earlier">
            <label htmlFor={`${id}earlier`} className="small">
              {texts.side.earlier}
            </label>
            <select
              id={`${id}earlier`}
              value={chosen?.id ?? ""}
              onChange={(event) => {
                const file = earlier.find((one) => one.id === event.currentTarget.value);
                choose(file && { id: file.id, name: file.name });
              }}
            >
              <option value="">{texts.side.pick}</option>
              {earlier.map((file) => (
                <option key={file.id} value={file.id}>
                  {file.name} ({formatBytes(file.bytes)})
                </option>
              ))}
            </select>
          </div>
        )}
      </div>
      {error && <Failure message={error} />}
    </div>
  );
}
