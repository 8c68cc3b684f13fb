import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { sizeClassEndpoints } from "#api/endpoints/size-class-endpoints.ts";
import type { ExecutionDetail } from "#api/execution.ts";
import { call } from "../../farm/ask.ts";
import { DecisionStory, KeyLink } from "../../parts/size-class-decision.tsx";

/** No stream reports the progress of an execution; until its end it is requested this often. */
const refetchMs = 3_000;

const whySizeClassQuery = (id: string) =>
  queryOptions({
    queryKey: ["execution-size-class", id],
    queryFn: ({ signal }) =>
      call(sizeClassEndpoints.executionSizeClass, { params: { execution: id } }, signal),
    refetchInterval: ({ state }) => (state.data?.state === "finished" ? false : refetchMs),
  });

/** Why an execution runs on its size class: the known facts, the alternatives, and the result. */
export function WhySizeClass({ execution: { id } }: { readonly execution: ExecutionDetail }) {
  const { data, error } = useQuery(whySizeClassQuery(id));
  const [first] = data?.decisions ?? [];
  return (
    <section className="part why-size-class" aria-label="Why this size class">
      <h2>Why this size class</h2>
      {error === null ? null : (
        <p role="alert" className="problem">
          {error.message}
        </p>
      )}
      {data === undefined ? null : (
        <>
          {data.decisions.length === 1 ? null : <p>{data.sentence}</p>}
          {data.secondRunOf === null ? null : (
            <p>
              <Link to="/executions/$id" params={{ id: data.secondRunOf }}>
                The execution that runs at the same time
              </Link>
            </p>
          )}
          <ol className="why-decisions">
            {data.decisions.map((decision) => (
              <li key={decision.number}>
                <DecisionStory decision={decision} />
              </li>
            ))}
          </ol>
          {first === undefined ? null : (
            <p className="faint">
              By strategy {first.strategy}; see{" "}
              <KeyLink of={first}>its earlier runs on each class</KeyLink>.
            </p>
          )}
        </>
      )}
    </section>
  );
}
