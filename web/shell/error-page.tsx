import { Link, useRouter } from "@tanstack/react-router";
import { messageOf } from "#core/fault.ts";
import { AnswerError } from "../farm/ask.ts";
import { Copyable } from "../parts/copy.tsx";
import { usePageTitle } from "../parts/page-title.ts";
import { adviceFor } from "./advice.ts";

/** Shows an error and the remedy. */
export function ErrorPage({ error }: { error: unknown }) {
  const router = useRouter();
  const advice = adviceFor(error instanceof AnswerError ? error.status : undefined);
  usePageTitle(advice.title);
  return (
    <section className="empty" role="alert">
      <h1>{advice.title}</h1>
      <p>{advice.whatToDo}</p>
      <pre className="problem" tabIndex={0}>
        {messageOf(error)}
      </pre>
      {advice.command === undefined ? null : <Copyable text={advice.command} label="command" />}
      <p className="row">
        <button type="button" onClick={() => void router.invalidate()}>
          Try again
        </button>
        <Link to="/">Back to the home page</Link>
      </p>
    </section>
  );
}
