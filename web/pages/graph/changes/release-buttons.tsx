import { useMutation, useQueryClient } from "@tanstack/react-query";
import { rerunEndpoints } from "#api/endpoints/rerun-endpoints.ts";
import { call } from "../../../farm/ask.ts";
import { readGraphAgain } from "../load.ts";

/** The two answers to a breakpoint. */
export function ReleaseButtons({
  graphId,
  job,
}: {
  readonly graphId: string;
  readonly job: string;
}) {
  const client = useQueryClient();
  const release = useMutation({
    mutationFn: (verdict: "go" | "stop") =>
      call(rerunEndpoints.release, { params: { graph: graphId }, body: { job, verdict } }),
    onSettled: () => readGraphAgain(client, graphId),
  });
  return (
    <>
      <button
        type="button"
        className="primary"
        disabled={release.isPending}
        onClick={() => release.mutate("go")}
      >
        Continue
      </button>
      <button
        type="button"
        className="danger"
        disabled={release.isPending}
        onClick={() => release.mutate("stop")}
      >
        Stop
      </button>
      {release.error === null ? null : (
        <p role="alert" className="problem">
          {release.error.message}
        </p>
      )}
    </>
  );
}
