import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { RequestSummary } from "#api/benchmark-request.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { changeRequest, isEnded, type RequestCommand } from "./load.ts";
import { hasTrouble } from "./request-words.ts";

/** The commands that are possible in the request's state. */
export function RequestCommands({ request }: { readonly request: RequestSummary }) {
  const client = useQueryClient();
  const action = useMutation({
    mutationFn: (wanted: RequestCommand) => changeRequest(request.id, wanted),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["benchmark-status"] }),
        client.invalidateQueries({ queryKey: ["benchmark-request", request.id] }),
      ]),
  });
  const isOver = isEnded(request.state);
  return (
    <span className="button-row">
      {request.state === "waiting-for-artifacts" ? (
        <ConfirmButton
          label="Artifact is ready…"
          question={`Is ${request.artifact} ready?`}
          confirm="It is ready"
          mild
          busy={action.isPending}
          onConfirm={() => action.mutate("artifacts-ready")}
        >
          The farm then queues the request. Jobs fail if the artifact cannot be fetched.
        </ConfirmButton>
      ) : null}
      {isOver ? null : (
        <ConfirmButton
          label="Cancel…"
          question={`Cancel the request for ${request.artifact}?`}
          confirm="Cancel the request"
          busy={action.isPending && action.variables === "cancel"}
          onConfirm={() => action.mutate("cancel")}
        >
          Its jobs stop. The farm keeps existing figures; a new request measures only the missing
          ones.
        </ConfirmButton>
      )}
      {isOver && hasTrouble(request) ? (
        <ConfirmButton
          label="Retry…"
          question={`Repeat the failed measurements of ${request.artifact}?`}
          confirm="Repeat"
          mild
          busy={action.isPending}
          onConfirm={() => action.mutate("retry")}
        >
          The farm measures only cases without a result, and keeps stored figures.
        </ConfirmButton>
      ) : null}
      {action.error === null ? null : (
        <span role="alert" className="problem">
          {action.error.message}
        </span>
      )}
    </span>
  );
}
