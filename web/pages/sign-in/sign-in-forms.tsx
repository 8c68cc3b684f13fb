import { useState } from "react";
import type { SessionStanding } from "#api/session.ts";
import { messageOf } from "#core/fault.ts";
import { Copyable } from "../../parts/copy.tsx";
import { signInAddress, signInWithToken } from "./load.ts";
import type { AsyncAction } from "./use-async-action.ts";

interface Props {
  readonly standing: SessionStanding;
  readonly action: AsyncAction;
  /** The page to show after the sign-in. */
  readonly then: string;
}

/** The ways to sign in. */
export function SignInForms({ standing: { provider, access, isOpen }, action, then }: Props) {
  return (
    <>
      {isOpen ? (
        <p className="faint">
          This farm requires no sign-in: anyone who can reach it may do everything. If you sign in,
          the farm records your actions with your name.
        </p>
      ) : (
        <p className="faint">
          {access === "private"
            ? "This farm is private: sign in to read. Your account needs the right to read."
            : "You can read without signing in. To change something, sign in."}
        </p>
      )}
      {provider === null ? null : <WithProvider name={provider} then={then} />}
      <WithToken action={action} then={then} />
    </>
  );
}

function WithProvider({ name, then }: { readonly name: string; readonly then: string }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const go = async () => {
    setBusy(true);
    try {
      location.assign((await signInAddress(then)).url);
    } catch (reason) {
      setProblem(messageOf(reason));
      setBusy(false);
    }
  };
  return (
    <section aria-label={name} className="sign-in-way">
      <button type="button" className="primary" disabled={isBusy} onClick={() => void go()}>
        Sign in with {name}
      </button>
      {problem === undefined ? null : (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </section>
  );
}

function WithToken({ action, then }: { readonly action: AsyncAction; readonly then: string }) {
  const [token, setToken] = useState("");
  return (
    <section aria-label="With a token" className="sign-in-way">
      <h2>With a token</h2>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(() => signInWithToken(token.trim()), then);
        }}
      >
        <label className="stacked">
          Token
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            placeholder="grange_…"
            required
            size={54}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button type="submit" disabled={action.isBusy}>
          Sign in
        </button>
      </form>
      <p className="faint">
        The browser stores a session, not the token. An administrator of the farm creates a token
        with
      </p>
      <Copyable text="grange token create NAME" label="command" />
    </section>
  );
}
