import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { usePageTitle } from "../../parts/page-title.ts";
import { shownText } from "../../parts/shown-text.ts";
import { TextField } from "../../parts/text-field.tsx";
import { GrantTable } from "./grant-table.tsx";
import { placeRightsQuery, principalRightsQuery } from "./load.ts";
import type { RightsSearch } from "./search.ts";
import "./rights.css";

/** Who may do what at a place, and what a principal may do, each with the grants that give it. */
export function RightsPage() {
  const search = useSearch({ from: "/rights" });
  const navigate = useNavigate({ from: "/rights" });
  usePageTitle("Rights");
  const show = (next: RightsSearch) => void navigate({ search: next });
  const { principal = "", repository = "", branch = "" } = search;
  return (
    <div className="page rights">
      <h1>Rights</h1>
      <div className="card choose">
        <TextField
          label="Repository or project"
          title="empty: the whole farm"
          value={repository}
          onChange={(text) => show({ repository: text.trim() || undefined })}
        />
        <TextField
          label="Branch"
          title="empty: any branch"
          value={branch}
          onChange={(text) =>
            show({ repository: repository || undefined, branch: text.trim() || undefined })
          }
        />
        <span className="faint">or</span>
        <TextField
          label="Principal"
          title="A person, a worker or a program"
          value={principal}
          onChange={(text) => show({ principal: text.trim() || undefined })}
        />
      </div>
      {principal === "" ? <AtPlace search={search} /> : <OfPrincipal name={principal} />}
    </div>
  );
}

function AtPlace({ search }: { readonly search: RightsSearch }) {
  const { data } = useSuspenseQuery(placeRightsQuery(search));
  const place = data.repository === "" ? "the whole farm" : shownText(data.repository);
  const where = data.branch === null ? place : `${shownText(data.branch)} of ${place}`;
  return (
    <section className="card">
      <h2>Who may do what on {where}</h2>
      {data.principals.length === 0 ? (
        <p>There is nobody whose rights you may see.</p>
      ) : (
        <GrantTable grants={data.principals.flatMap(({ grants }) => grants)} showsPrincipals />
      )}
      <p className="faint">
        Everybody also has the rights of <code>anyone</code>. Only administrators of the farm see
        the rights of others. <code>grange grant add PRINCIPAL VERB REPOSITORY</code> gives a right.
      </p>
    </section>
  );
}

function OfPrincipal({ name }: { readonly name: string }) {
  const { data } = useSuspenseQuery(principalRightsQuery(name));
  return (
    <section className="card">
      <h2>What {data.name} may do</h2>
      <p>
        {data.kind === null
          ? "This farm has no principal of this name."
          : `${data.name} is a ${data.kind}. ${tokensText(data.tokens)}`}
      </p>
      {data.quarantine === null ? null : (
        <p role="alert">
          It is quarantined, and no worker may use it: {shownText(data.quarantine)}
        </p>
      )}
      {data.grants.length === 0 ? <p>It has no right.</p> : <GrantTable grants={data.grants} />}
    </section>
  );
}

/** Null for callers that may not administer the farm. */
function tokensText(tokens: readonly unknown[] | null): string {
  if (tokens === null) return "";
  if (tokens.length === 0) return "It has no valid token.";
  return tokens.length === 1 ? "It has one valid token." : `It has ${tokens.length} valid tokens.`;
}
