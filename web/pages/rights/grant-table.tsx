import { Link } from "@tanstack/react-router";
import type { GivingGrant } from "#api/access.ts";
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
            <td>{limitsOf(grant)}</td>
            <td>{shownText(grant.createdBy)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function limitsOf({ priorityCap, top, pool, label, sizeClassCap, costCap }: GivingGrant): string {
  const limits = [
    ...(priorityCap === null ? [] : [`priority ≤ ${priorityCap}`]),
    ...(pool === undefined ? [] : [`pool ${shownText(pool)}`]),
    ...(label === undefined ? [] : [`label ${shownText(label)}`]),
    ...(sizeClassCap === undefined ? [] : [`size class ≤ ${sizeClassCap}`]),
    ...(costCap === undefined ? [] : [`≤ ${costCap} min`]),
    ...(top ? ["with the top class"] : []),
  ];
  return limits.length === 0 ? "–" : limits.join(", ");
}
