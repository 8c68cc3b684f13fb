import { useQuery } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import { sessionQuery } from "../farm/session.ts";

/** The signed-in user, or a link to sign in. Empty when no sign-in is needed. */
export function Who() {
  const { data } = useQuery(sessionQuery);
  const here = useRouterState({ select: ({ location }) => location.href });
  if (data === undefined) return null;
  const { session, over, provider, isOpen } = data;
  if (session !== null) {
    return (
      <Link to="/sign-in" className="who" title={`Signed in as ${session.principal}`}>
        {session.principal}
      </Link>
    );
  }
  if (isOpen && provider === null && over === null) return null;
  const to = here === "/" || here.startsWith("/sign-in") ? undefined : here;
  return (
    <Link to="/sign-in" search={{ to }} className="who">
      Sign in
    </Link>
  );
}
