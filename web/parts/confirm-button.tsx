import { type ReactNode, useId, useRef } from "react";

interface Props {
  readonly label: string;
  readonly question: string;
  /** Describes the effect in a sentence. */
  readonly children: ReactNode;
  readonly confirm: string;
  readonly busy: boolean;
  readonly onConfirm: () => void;
  /** Nothing is ended: the button only asks for confirmation because the effect is large. */
  readonly mild?: boolean;
}

/** A button for an irreversible action, which asks for confirmation. */
export function ConfirmButton(props: Props) {
  const { label, question, children, confirm, busy, onConfirm, mild = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  return (
    <>
      <button
        type="button"
        className={mild ? "" : "danger"}
        disabled={busy}
        onClick={() => dialog.current?.showModal()}
      >
        {busy && !mild ? "Cancelling…" : label}
      </button>
      <dialog ref={dialog} aria-labelledby={title}>
        <form method="dialog" onSubmit={onConfirm}>
          <h2 id={title}>{question}</h2>
          <p>{children}</p>
          <div className="row end">
            <button type="button" onClick={() => dialog.current?.close()}>
              {mild ? "Cancel" : "Keep it running"}
            </button>
            <button type="submit" className={mild ? "primary" : "danger"}>
              {confirm}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
