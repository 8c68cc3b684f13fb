import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { CreatedShareLink } from "#api/share.ts";
import { Copyable } from "./copy.tsx";
import { Modal } from "./modal.tsx";
import { NumberField } from "./number-field.tsx";

const dayMs = 24 * 3_600_000;

interface Props {
  /** What the link will open: `the log of run 1 of build`. */
  readonly what: string;
  /** Makes a link that is valid for a time in ms. */
  readonly make: (expiresInMs: number) => Promise<CreatedShareLink>;
}

/** A button that makes a link by which callers without a right read one object for a limited time. */
export function ShareButton({ what, make }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" aria-label={`Share ${what}`} onClick={() => setOpen(true)}>
        Share
      </button>
      {isOpen ? (
        <Modal title={`Share ${what}`} onClose={() => setOpen(false)}>
          <ShareForm make={make} onClose={() => setOpen(false)} />
        </Modal>
      ) : null}
    </>
  );
}

function ShareForm({ make, onClose }: Pick<Props, "make"> & { readonly onClose: () => void }) {
  const [days, setDays] = useState(7);
  const making = useMutation({ mutationFn: () => make(days * dayMs) });
  return (
    <>
      {making.data === undefined ? (
        <>
          <p>
            Anyone who has the link can read this, and nothing else, until the link expires,
            somebody revokes it, or you lose the right to read this.
          </p>
          <NumberField label="Valid for (days)" min={1} max={90} value={days} onChange={setDays} />
        </>
      ) : (
        <>
          <p>
            Valid until {new Date(making.data.expiresAt).toLocaleString()}. Copy it now: the farm
            does not show it again.
          </p>
          <div className="row">
            <input
              type="text"
              className="grow"
              readOnly
              aria-label="Link"
              value={making.data.url}
              onFocus={(event) => event.target.select()}
            />
            <Copyable text={making.data.url} shown="Copy" label="the link" />
          </div>
          <p className="faint">
            <code>grange share revoke {making.data.id}</code> ends it.
          </p>
        </>
      )}
      {making.error === null ? null : <p role="alert">{making.error.message}</p>}
      <div className="row end">
        <button type="button" onClick={onClose}>
          Close
        </button>
        {making.data === undefined ? (
          <button
            type="button"
            className="primary"
            disabled={making.isPending}
            onClick={() => making.mutate()}
          >
            Make link
          </button>
        ) : null}
      </div>
    </>
  );
}
