import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ExecutionOutput } from "#api/execution.ts";
import { bytesText } from "../../parts/bytes.ts";
import { numberText } from "../../parts/number-text.ts";
import { shownText } from "../../parts/shown-text.ts";
import { blobUrl } from "../invocation/blob-links.tsx";
import { treeQuery } from "./load.ts";

/** The maximum number of lines in the page; the tool shows the rest. */
const mostShown = 500;

/** The outputs of an execution, for download. */
export function OutputsList(props: {
  readonly project: string;
  readonly outputs: readonly ExecutionOutput[];
  /** The number that the farm left out. */
  readonly more: number;
}) {
  const { outputs, project } = props;
  if (outputs.length === 0) return <p className="faint">None.</p>;
  const left = Math.max(0, outputs.length - mostShown) + props.more;
  return (
    <>
      <ul className="outputs">
        {outputs.slice(0, mostShown).map((output) => (
          <OutputLine key={output.path} project={project} output={output} />
        ))}
      </ul>
      {left > 0 ? <p className="faint">{numberText(left)} more are not shown.</p> : null}
    </>
  );
}

function OutputLine({ project, output }: { project: string; output: ExecutionOutput }) {
  switch (output.kind) {
    case "file":
      return (
        <FileLine
          project={project}
          path={output.path}
          blob={output.blob}
          sizeBytes={output.sizeBytes}
          executable={output.executable}
        />
      );
    case "symlink":
      return (
        <li>
          <span>
            {shownText(output.path)} <span className="faint">→ {shownText(output.target)}</span>
          </span>
        </li>
      );
    case "directory":
      return <DirectoryLine project={project} path={output.path} tree={output.tree} />;
  }
}

function FileLine(props: {
  readonly project: string;
  readonly path: string;
  readonly blob: string;
  readonly sizeBytes: number;
  readonly executable: boolean;
}) {
  return (
    <li>
      <a href={blobUrl(props.project, props.blob, { name: props.path })} download>
        {shownText(props.path)}
      </a>
      <span className="faint number">
        {props.executable ? "executable · " : ""}
        {bytesText(props.sizeBytes)}
      </span>
    </li>
  );
}

function DirectoryLine(props: {
  readonly project: string;
  readonly path: string;
  readonly tree: string;
}) {
  const { project, path, tree } = props;
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useQuery(treeQuery(project, tree, isOpen));
  return (
    <li className="directory">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {path === "" ? "." : shownText(path)}/
          {data === undefined ? null : (
            <span className="faint number"> {numberText(data.count)} entries</span>
          )}
        </summary>
        {error === null ? null : <p className="problem">{error.message}</p>}
        <ul>
          {data?.entries.map((entry) =>
            entry.kind === "file" ? (
              <FileLine key={entry.path} project={project} {...entry} />
            ) : (
              <li key={entry.path}>
                <span>
                  {shownText(entry.path)}
                  {entry.kind === "symlink" ? (
                    <span className="faint"> → {shownText(entry.target)}</span>
                  ) : (
                    "/"
                  )}
                </span>
              </li>
            ),
          )}
        </ul>
        {data !== undefined && data.count > data.entries.length ? (
          <p className="faint">
            {numberText(data.count - data.entries.length)} more are not shown.
          </p>
        ) : null}
      </details>
    </li>
  );
}
