import { useSuspenseQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { returnAddress } from "#core/return-address.ts";
import { sessionQuery } from "../../farm/session.ts";
import { usePageTitle } from "../../parts/page-title.ts";
import { signInWithCode } from "./load.ts";
import { SignInForms } from "./sign-in-forms.tsx";
import { useAsyncAction } from "./use-async-action.ts";
import { WhoAmI } from "./who-am-i.tsx";
import "./sign-in.css";

export function SignInPage() {
  const { to } = useSearch({ from: "/sign-in" });
  const { data: standing } = useSuspenseQuery(sessionQuery);
  const [code] = useState(takeCode);
  const [problem] = useState(standing.problem);
  const action = useAsyncAction();
  const then = returnAddress(to);
  const { session, over } = standing;
  usePageTitle(session === null ? "Sign in" : session.principal);

  // A signed-in user must confirm first: a link from another person must not change the user's identity.
  const isWelcome = code !== null && session === null;
  const { run } = action;
  useEffect(() => {
    if (isWelcome) void run(() => signInWithCode(code), then);
  }, [isWelcome, code, run, then]);

  return (
    <div className="page sign-in">
      <h1>{session === null ? "Sign in" : session.principal}</h1>
      {[problem, action.problem].map((each) =>
        each === null ? null : (
          <p key={each} role="alert" className="problem">
            {each}
          </p>
        ),
      )}
      {over === null ? null : (
        <p className="faint">
          The session of {over.principal} has ended ({over.why}).
        </p>
      )}
      {session !== null && code !== null ? (
        <section aria-label="Link" className="sign-in-way">
          <p>This link signs you in. Continue only if you requested it.</p>
          <button
            type="button"
            disabled={action.isBusy}
            onClick={() => void run(() => signInWithCode(code), then)}
          >
            Sign in with the link
          </button>
        </section>
      ) : null}
      {session === null ? (
        isWelcome && action.problem === null ? (
          <p role="status">Signing in…</p>
        ) : (
          <SignInForms standing={standing} action={action} then={then} />
        )
      ) : (
        <WhoAmI session={session} action={action} />
      )}
    </div>
  );
}

/** Returns the code of a link, and removes it from the address: it is valid for this visit only. */
function takeCode(): string | null {
  const { hash, pathname, search } = location;
  if (hash !== "") history.replaceState(history.state, "", pathname + search);
  return new URLSearchParams(hash.slice(1)).get("code");
}
