import type { Batch, ChunkProgress as Progress } from "#api/chunk.ts";
import type { JobState } from "#api/job-state.ts";
import { apiBase } from "../../farm/ask.ts";
import { StateIcon } from "../../parts/state.tsx";
import { Elapsed } from "../../parts/times.tsx";

/** The progress of a chunked job's items, and their batches. */
export function ChunkProgress(props: {
  readonly graphId: string;
  readonly job: string;
  readonly progress: Progress;
}) {
  const { items, done, failed, batches, run } = props.progress;
  const logs = `${apiBase}/graphs/${props.graphId}/jobs/${encodeURIComponent(props.job)}/runs/${run}/log`;
  return (
    <section aria-label="Chunks">
      <p className="row">
        <strong>
          <span className="number">{done}</span> of <span className="number">{items}</span> items
        </strong>
        {failed === 0 ? null : <span className="problem number">{failed} failed</span>}
        <span className="faint number">
          {batches.length} {batches.length === 1 ? "batch" : "batches"}
        </span>
      </p>
      <span
        className="counts-bar"
        role="progressbar"
        aria-label="Items"
        aria-valuemin={0}
        aria-valuemax={items}
        aria-valuenow={done}
      >
        {done === 0 ? null : <span className="is-succeeded" style={{ flexGrow: done }} />}
        {failed === 0 ? null : <span className="is-failed" style={{ flexGrow: failed }} />}
        <span style={{ flexGrow: items - done - failed }} />
      </span>
      <details open={failed > 0}>
        <summary>Batches</summary>
        <ol className="batches">
          {batches.map((batch) => (
            <li key={batch.number}>
              <StateIcon state={stateOf(batch)} />
              <span className="number">#{batch.number}</span>
              <span className="number">
                {batch.items} {batch.items === 1 ? "item" : "items"}
              </span>
              <span className="faint ellipsis">
                {batch.cached ? "cached" : (batch.message ?? batch.worker)}
              </span>
              <Elapsed from={batch.startedAt} to={batch.finishedAt} />
              <a href={`${logs}?batch=${batch.number}`} target="_blank" rel="noreferrer">
                log
              </a>
            </li>
          ))}
        </ol>
      </details>
    </section>
  );
}

function stateOf(batch: Batch): JobState {
  switch (batch.state) {
    case "planned":
      return "ready";
    case "queued":
    case "running":
      return batch.state;
    case "finished":
      return batch.outcome === "succeeded" ? "succeeded" : "failed";
  }
}
