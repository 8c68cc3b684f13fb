import { Link } from "@tanstack/react-router";
import type { CollectorView } from "#api/collector.ts";
import { durationText } from "../../parts/duration.ts";
import { numberText } from "../../parts/number-text.ts";
import { Ago, Elapsed } from "../../parts/times.tsx";
import { collectorStates, jobWords } from "./request-words.ts";
import { StateSign } from "./state-mark.tsx";

/** The measuring machines. */
export function CollectorsGrid({ collectors }: { readonly collectors: readonly CollectorView[] }) {
  return (
    <section aria-label="Collectors">
      <h2>Collectors</h2>
      {collectors.length === 0 ? (
        <p className="faint">
          None. <code>grange collector add NAME --target linux-x64</code> registers one, and{" "}
          <code>grange collector run NAME</code> starts measurements on a machine.
        </p>
      ) : (
        <ul className="lab-collectors">
          {collectors.map((each) => (
            <li key={each.name} className="card">
              <div className="row">
                <h3>
                  <Link to="/benchmarks/collectors/$name" params={{ name: each.name }}>
                    {each.name}
                  </Link>
                </h3>
                <span className="grow" />
                <StateSign state={collectorStates[each.state]} />
              </div>
              <CollectorFacts of={each} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function setsWords({ set, mayTakeOver }: CollectorView): string {
  const own = set === null ? "all sets" : `set ${set}`;
  return mayTakeOver.length === 0 ? own : `${own}, may take over ${mayTakeOver.join(", ")}`;
}

export function CollectorFacts({ of }: { readonly of: CollectorView }) {
  const { environment, job, lastHeartbeatAt, meanJobSeconds, outOfDuty, selfTest } = of;
  return (
    <>
      {outOfDuty === null ? null : <p className="problem">{outOfDuty}</p>}
      <dl className="facts">
        <dt>Measures</dt>
        <dd>
          {of.target} · {setsWords(of)}
        </dd>
        <dt>Last seen</dt>
        <dd>{lastHeartbeatAt === null ? "never" : <Ago time={lastHeartbeatAt} />}</dd>
        <dt>Now</dt>
        <dd>
          {job === null ? (
            "nothing"
          ) : (
            <>
              {job.artifact} · {jobWords(job)} · <Elapsed from={job.startedAt} to={job.endedAt} />
              {job.usualSeconds === null
                ? ""
                : `, usually ${durationText(job.usualSeconds * 1_000)}`}
            </>
          )}
        </dd>
        <dt>Machine</dt>
        <dd className="lab-machine">{machineWords(environment)}</dd>
        {meanJobSeconds === null ? null : (
          <>
            <dt>A job takes</dt>
            <dd>{durationText(meanJobSeconds * 1_000)} on average</dd>
          </>
        )}
        {selfTest === null ? null : (
          <>
            <dt>Self-test</dt>
            <dd className={selfTest.passed ? "" : "problem"}>
              {selfTest.passed ? "passed" : "failed"}: {selfTest.alarms} false alarms in{" "}
              {numberText(selfTest.comparisons)}, <Ago time={selfTest.at} />
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

/** Returns the facts by which people recognise a machine; all facts are on the collector's page. */
function machineWords(environment: CollectorView["environment"]): string {
  if (environment === null) return "unknown until it registers";
  const known = Object.entries(environment);
  const find = (...names: readonly string[]) =>
    names.flatMap((name) => known.find(([key]) => key.toLowerCase() === name)?.[1] ?? []);
  const words = find("cpu", "cpu-model", "cpu model", "kernel", "governor");
  return words.length === 0 ? `${known.length} facts` : words.join(" · ");
}
