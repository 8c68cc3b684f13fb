import { Link } from "@tanstack/react-router";
import type { GivingGrant } from "#api/access.ts";
import { limitWords } from "#api/grant-limits.ts";
import { Verb } from "#core/verb.ts";
import { shownText } from "../../parts/shown-text.ts";

interface Props {
  readonly grants: readonly GivingGrant[];
  /** Links each principal to its rights. */
  readonly showsPrincipals?: boolean;
}

/** Grants, each with what it gives, where, and within which limits. */
export function GrantTable({ grants, showsPrincipals = false }: Props) {
  return (
    <table className="figures">
      <thead>
        <tr>
          <th>Principal</th>
          <th>May</th>
          <th>By the grant</th>
          <th>Repository</th>
          <th>Branch</th>
          <th>Limits</th>
          <th>Granted by</th>
        </tr>
      </thead>
      <tbody>
        {grants.map((grant) => (
          <tr key={JSON.stringify(grant)}>
            <th scope="row">
              {showsPrincipals ? (
                <Link to="/rights" search={{ principal: grant.principal }}>
                  {grant.principal}
                </Link>
              ) : (
                grant.principal
              )}
            </th>
            <td>
              {grant.gives.length === Verb.options.length ? "everything" : grant.gives.join(", ")}
            </td>
            <td>
              <code>{grant.verb}</code>
            </td>
            <td>{grant.repository === "*" ? "all" : shownText(grant.repository)}</td>
            <td>{grant.branch === "*" ? "all" : shownText(grant.branch)}</td>
            <td>{shownText(limitWords(grant).join(", ")) || "–"}</td>
            <td>{shownText(grant.createdBy)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
