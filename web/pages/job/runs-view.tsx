import { useMemo } from "react";
import type { JobDetail, Run } from "#api/graph.ts";
import { ShareButton } from "../../parts/share-button.tsx";
import { LogView } from "../log/log-view.tsx";
import { ChunkProgress } from "./chunk-progress.tsx";
import { runUrl, shareRun } from "./load.ts";
import { RunFacts } from "./run-facts.tsx";
import { RunFindings } from "./run-findings.tsx";
import { RunTabs } from "./run-tabs.tsx";
import type { JobSearch } from "./search.ts";

interface Props {
  readonly detail: JobDetail;
  readonly runs: readonly Run[];
  readonly run: Run | undefined;
  readonly line: number | undefined;
  readonly find: string;
  readonly onChange: (search: JobSearch) => void;
}

const noLog = {
  farm: "The server carries out this run itself: there is no log.",
  outside: "Another machine reports the result of this run: there is no log here.",
  items: "Each batch of its items has a separate log.",
} as const;

/** The runs: each with its cause, its outcome, and its log. */
export function RunsView({
  detail: { graph, job, chunks },
  runs,
  run,
  line,
  find,
  onChange,
}: Props) {
  const errorNumbers = useMemo(() => run?.errorLines.map(({ line: number }) => number), [run]);
  if (run === undefined) {
    return (
      <div className="job-main">
        <p className="empty">
          {job.state === "unreachable" ? "It did not run." : "It has not run yet."}
        </p>
      </div>
    );
  }
  return (
    <div className="job-main">
      <RunTabs
        runs={runs}
        chosen={run.number}
        onChoose={(number) => onChange({ run: number, line: undefined })}
      />
      <RunFacts run={run} />
      {chunks?.run === run.number ? (
        <ChunkProgress graphId={graph.id} job={job.name} progress={chunks} />
      ) : null}
      <RunFindings run={run} onLine={(to) => onChange({ line: to })} />
      {run.servedBy !== "execution" ? (
        <p className="faint">{noLog[run.servedBy]}</p>
      ) : (
        <LogView
          key={`${graph.id} ${job.name} ${run.number}`}
          url={`${runUrl(graph.id, job.name, run.number)}/log`}
          fileName={`${job.name.replaceAll("/", "-")}-${run.number}.log`}
          line={line}
          find={find}
          errorLines={run.errorLines.length > 0 ? errorNumbers : undefined}
          onLine={(to) => onChange({ line: to })}
          onFind={(text) => onChange({ find: text === "" ? undefined : text })}
          actions={
            <ShareButton
              what={`the log of run ${run.number} of ${job.name}`}
              make={(expiresInMs) => shareRun(graph.id, job.name, run.number, { expiresInMs })}
            />
          }
        />
      )}
    </div>
  );
}
