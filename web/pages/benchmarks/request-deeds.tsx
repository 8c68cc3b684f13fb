import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useId, useRef } from "react";
import type { RequestSummary } from "#api/benchmark-request.ts";
import { changeRequest, isEnded, type RequestDeed } from "./load.ts";
import { hasTrouble } from "./request-words.ts";

/** What may be done with a request as it stands. */
export function RequestDeeds({ request }: { readonly request: RequestSummary }) {
  const client = useQueryClient();
  const deed = useMutation({
    mutationFn: (wanted: RequestDeed) => changeRequest(request.id, wanted),
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
        <Asks
          label="Artifact is there…"
          question={`Is ${request.artifact} there?`}
          confirm="It is there"
          busy={deed.isPending}
          onConfirm={() => deed.mutate("artifacts-ready")}
        >
          The request is queued then, and jobs fail if the artifact cannot be fetched.
        </Asks>
      ) : null}
      {isOver ? null : (
        <Asks
          label="Cancel…"
          question={`Cancel the request for ${request.artifact}?`}
          confirm="Cancel the request"
          danger
          busy={deed.isPending}
          onConfirm={() => deed.mutate("cancel")}
        >
          Its jobs end. What is measured already stays, and asking again measures the rest only.
        </Asks>
      )}
      {isOver && hasTrouble(request) ? (
        <Asks
          label="Retry…"
          question={`Measure again what failed of ${request.artifact}?`}
          confirm="Measure it again"
          busy={deed.isPending}
          onConfirm={() => deed.mutate("retry")}
        >
          Only what has no result is measured; nothing that is stored is measured twice.
        </Asks>
      ) : null}
      {deed.error === null ? null : (
        <span role="alert" className="problem">
          {deed.error.message}
        </span>
      )}
    </span>
  );
}

interface Props {
  readonly label: string;
  readonly question: string;
  readonly confirm: string;
  readonly danger?: boolean;
  readonly busy: boolean;
  readonly children: ReactNode;
  readonly onConfirm: () => void;
}

/** A button that asks before it does something. */
function Asks({ label, question, confirm, danger = false, busy, children, onConfirm }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const style = danger ? "danger" : "";
  return (
    <>
      <button
        type="button"
        className={style}
        disabled={busy}
        onClick={() => dialog.current?.showModal()}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={title}>
        <form method="dialog" onSubmit={onConfirm}>
          <h2 id={title}>{question}</h2>
          <p>{children}</p>
          <div className="row end">
            <button type="button" onClick={() => dialog.current?.close()}>
              Leave it
            </button>
            <button type="submit" className={danger ? "danger" : "primary"}>
              {confirm}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
