import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ChangeCollector, CollectorView } from "#api/collector.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { Ago } from "../../parts/times.tsx";
import { CollectorFacts } from "../benchmarks/collectors-grid.tsx";
import { LabHead } from "../benchmarks/lab-head.tsx";
import { changeCollector, collectorsQuery } from "../benchmarks/load.ts";
import { collectorStates } from "../benchmarks/request-words.ts";
import { StateSign } from "../benchmarks/state-mark.tsx";
import "../benchmarks/benchmarks.css";

/** One measuring machine, with all facts that may affect a figure. */
export function CollectorPage() {
  const { name } = useParams({ from: "/benchmarks/collectors/$name" });
  const { data } = useSuspenseQuery(collectorsQuery);
  const collector = data.collectors.find((each) => each.name === name);
  usePageTitle(name, "Benchmarks");
  if (collector === undefined) {
    return (
      <div className="page lab-page">
        <LabHead title={name} />
        <p role="alert">
          There is no collector of this name. <code>grange collector list</code> lists them.
        </p>
      </div>
    );
  }
  const environment = Object.entries(collector.environment ?? {}).sort(([a], [b]) =>
    a.localeCompare(b),
  );
  return (
    <div className="page lab-page">
      <LabHead title={collector.name}>
        <StateSign state={collectorStates[collector.state]} />
        <Actions of={collector} />
      </LabHead>
      <section className="card" aria-label="What it does">
        <CollectorFacts of={collector} />
        <p className="faint">
          Added <Ago time={collector.addedAt} />
          {collector.version === null ? "" : ` · version ${collector.version}`}
        </p>
      </section>
      <section aria-label="Environment">
        <h2>
          Environment{" "}
          <span className="faint">
            {collector.fingerprint === null
              ? ""
              : `fingerprint ${collector.fingerprint.slice(0, 12)}`}
          </span>
        </h2>
        {environment.length === 0 ? (
          <p className="faint">It has not registered yet.</p>
        ) : (
          <>
            <p className="faint">
              The farm compares only figures with the same fingerprint. When one of these facts
              changes, a new baseline starts.
            </p>
            <dl className="facts lab-environment">
              {environment.map(([key, value]) => (
                <div key={key}>
                  <dt>{shownText(key)}</dt>
                  <dd>{shownText(value)}</dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </section>
    </div>
  );
}

function Actions({ of }: { readonly of: CollectorView }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (wanted: ChangeCollector) => changeCollector(of.name, wanted),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["benchmark-collectors"] }),
        client.invalidateQueries({ queryKey: ["benchmark-status"] }),
      ]),
  });
  return (
    <span className="button-row">
      <button
        type="button"
        disabled={change.isPending}
        title={
          of.active ? "It takes no new jobs. Its current job continues." : "It takes jobs again."
        }
        onClick={() => change.mutate({ active: !of.active })}
      >
        {of.active ? "Deactivate" : "Activate"}
      </button>
      {of.outOfDuty === null ? null : (
        <button
          type="button"
          disabled={change.isPending}
          onClick={() => change.mutate({ outOfDuty: null })}
        >
          Put it back on duty
        </button>
      )}
      {change.error === null ? null : (
        <span role="alert" className="problem">
          {change.error.message}
        </span>
      )}
    </span>
  );
}
