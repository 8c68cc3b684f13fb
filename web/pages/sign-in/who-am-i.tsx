import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Caller } from "#api/access.ts";
import type { ListedSession, SessionStanding } from "#api/session.ts";
import { messageOf } from "#core/fault.ts";
import { Ago } from "../../parts/times.tsx";
import { callerQuery, endSession, sessionsQuery, signOut } from "./load.ts";
import type { AsyncAction } from "./use-async-action.ts";

interface Props {
  readonly session: NonNullable<SessionStanding["session"]>;
  readonly action: AsyncAction;
}

/** The signed-in user, the end of the session, the user's rights, and sign-out. */
export function WhoAmI({ session, action }: Props) {
  const { by, since, endsAt, id } = session;
  const { data: caller } = useQuery(callerQuery);
  return (
    <>
      <p>
        Signed in <Ago time={since} />{" "}
        {by.kind === "token" ? (
          <>
            with the token <code>{by.id}</code>
          </>
        ) : (
          <>
            by <code>{by.issuer}</code>
          </>
        )}
        , until <time dateTime={endsAt}>{new Date(endsAt).toLocaleString()}</time> at the latest.
      </p>
      <button
        type="button"
        disabled={action.isBusy}
        onClick={() => void action.run(signOut, "/sign-in")}
      >
        Sign out
      </button>
      {caller === undefined ? null : (
        <>
          <Grants grants={caller.grants} />
          <Link to="/rights" search={{ principal: caller.name }}>
            By which grants
          </Link>
        </>
      )}
      <Sessions own={id} />
    </>
  );
}

/** The limits of grants; columns only for limits that occur. */
const narrowings: readonly {
  readonly name: string;
  readonly of: (grant: Caller["grants"][number]) => string | undefined;
}[] = [
  { name: "pools", of: ({ pool }) => pool },
  { name: "other properties", of: ({ label }) => label },
  { name: "highest size class", of: ({ sizeClassCap }) => sizeClassCap?.toString() },
  {
    name: "highest cost",
    of: ({ costCap }) => (costCap === undefined ? undefined : `${costCap} min`),
  },
];

function Grants({ grants }: Pick<Caller, "grants">) {
  const limits = narrowings.filter(({ of }) => grants.some((grant) => of(grant) !== undefined));
  return (
    <section aria-label="Grants" className="sign-in-way">
      <h2>What you may do</h2>
      {grants.length === 0 ? (
        <p className="faint">
          You may only read. An administrator of the farm gives grants with{" "}
          <code>grange grant add</code>.
        </p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">verb</th>
              <th scope="col">repository</th>
              <th scope="col">branch</th>
              <th scope="col">highest priority</th>
              {limits.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {grants.map((grant) => (
              <tr key={JSON.stringify(grant)}>
                <td>{grant.verb === "*" ? "everything" : grant.verb}</td>
                <td>{grant.repository === "*" ? "all" : grant.repository}</td>
                <td>{grant.branch === "*" ? "all" : grant.branch}</td>
                <td>{grant.top ? "top" : (grant.priorityCap ?? "any")}</td>
                {limits.map(({ name, of }) => (
                  <td key={name}>{of(grant) ?? "any"}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Sessions({ own }: { readonly own: string }) {
  const client = useQueryClient();
  const { data: sessions = [] } = useQuery(sessionsQuery);
  const [problem, setProblem] = useState<string>();
  const others = sessions.filter(({ id }) => id !== own);
  if (others.length === 0) return null;
  const end = async ({ id }: ListedSession) => {
    try {
      await endSession(id);
      await client.invalidateQueries(sessionsQuery);
    } catch (reason) {
      setProblem(messageOf(reason));
    }
  };
  return (
    <section aria-label="Other sessions" className="sign-in-way">
      <h2>Other signed-in browsers</h2>
      {problem === undefined ? null : (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">who</th>
            <th scope="col">since</th>
            <th scope="col">last seen</th>
            <th scope="col" aria-label="End" />
          </tr>
        </thead>
        <tbody>
          {others.map((session) => (
            <tr key={session.id}>
              <td>{session.principal}</td>
              <td>
                <Ago time={session.createdAt} />
              </td>
              <td>
                <Ago time={session.seenAt} />
              </td>
              <td>
                <button type="button" onClick={() => void end(session)}>
                  End
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
