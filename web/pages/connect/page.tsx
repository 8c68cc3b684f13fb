import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import type { Caller } from "#api/access.ts";
import { Copyable } from "../../parts/copy.tsx";
import { usePageTitle } from "../../parts/page-title.ts";
import { Ago } from "../../parts/times.tsx";
import { callerQuery, lastSeenQuery, type Seen } from "./load.ts";
import { type Lines, type Recipe } from "./recipe.ts";
import { type RecipeName, recipeNames, recipes } from "./recipes.ts";
import type { ConnectSearch } from "./search.ts";
import "./connect.css";

/** The placeholder for a token: no user should type a token into a page's address. */
const tokenPlaceholder = "YOUR_TOKEN";

/** How to connect a build tool to this farm, with lines to paste. */
export function ConnectPage() {
  const search = useSearch({ from: "/connect" });
  const navigate = useNavigate({ from: "/connect" });
  const { data: caller } = useSuspenseQuery(callerQuery);
  const name: RecipeName = recipeNames.find((each) => each === search.tool) ?? "bazel-remote";
  const recipe: Recipe = recipes[name];
  const project = isProject(search.project ?? "") ? (search.project ?? "default") : "default";
  const isClosed = !mayBuild(caller);
  const [withToken, setWithToken] = useState(isClosed);
  usePageTitle("Connect", recipe.tool);
  const change = (next: ConnectSearch) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false });
  const farm = {
    origin: location.origin,
    project,
    token: withToken ? tokenPlaceholder : undefined,
  };

  return (
    <div className="page">
      <h1>Connect a build tool</h1>
      <p className="faint connect-lead">
        Build tools reuse earlier results from this farm, and can execute actions on its workers.
        Select your tool, copy the lines into its configuration, and build. Or put{" "}
        <code>grange exec --</code> before your build: a <Link to="/granary/help">granary</Link> on
        your machine then configures the caches of the tools, and fetches the results of the commit
        in advance.
      </p>
      <div className="connect">
        <nav aria-label="Tools" className="tool-list">
          {recipeNames.map((each) => (
            <Link
              key={each}
              to="/connect"
              search={(now) => ({ ...now, tool: each })}
              replace
              resetScroll={false}
              className={each === name ? "chosen" : ""}
              aria-current={each === name ? "true" : undefined}
            >
              {recipes[each].tool}
            </Link>
          ))}
        </nav>
        <section aria-label={recipe.tool} className="recipe">
          <h2>{recipe.tool}</h2>
          <p>
            <WithCode text={recipe.gives} />
          </p>
          <div className="row recipe-form">
            <label>
              Project{" "}
              <input
                type="text"
                defaultValue={project}
                key={search.project === undefined ? "default" : "named"}
                spellCheck={false}
                onChange={(event) => {
                  const written = event.target.value.trim();
                  if (written === "" || isProject(written)) {
                    change({
                      project: written === "" || written === "default" ? undefined : written,
                    });
                  }
                }}
                aria-describedby="project-hint"
              />
            </label>
            <span id="project-hint" className="faint">
              letters, digits and . _ - between slashes; each has separate results
            </span>
            <label>
              <input
                type="checkbox"
                checked={withToken}
                onChange={(event) => setWithToken(event.target.checked)}
              />{" "}
              with a token
            </label>
          </div>
          {withToken ? (
            <p className="faint">
              Replace this with a token: <code>{tokenPlaceholder}</code>:{" "}
              <Copyable text={tokenCommand(project)} label="commands that make a token" />. A token
              is a secret: keep it out of files that are committed.
            </p>
          ) : null}
          {isClosed && !withToken ? (
            <p className="problem">
              Without a token you cannot build on this farm; its caches can be read without one.
            </p>
          ) : null}
          {recipe.lines(farm).map((lines) => (
            <LinesBox key={lines.where} lines={lines} />
          ))}
          <h3>What to expect</h3>
          <p>
            <WithCode text={recipe.expect} />
          </p>
          {"nowhere" in recipe.seen ? null : <LastSeen seen={recipe.seen} project={project} />}
        </section>
      </div>
    </div>
  );
}

/** Text in which `code` is between backticks. */
function WithCode({ text }: { text: string }) {
  return text
    .split("`")
    .map((part, position) => (position % 2 === 0 ? part : <code key={part}>{part}</code>));
}

function LinesBox({ lines }: { lines: Lines }) {
  return (
    <figure className="lines-box">
      <figcaption className="row">
        <span className="faint">{lines.where}</span>
        <span className="grow" />
        <Copyable text={lines.text} shown="copy" label="these lines" />
      </figcaption>
      <pre className="definition" tabIndex={0}>
        {lines.text}
      </pre>
    </figure>
  );
}

function LastSeen({ seen, project }: { seen: Seen; project: string }) {
  const { data } = useQuery(lastSeenQuery(project, seen));
  if (data === undefined) return <p className="seen faint">…</p>;
  return (
    <p className="seen" aria-live="polite">
      {data === null ? (
        <span className="faint">
          No request yet in project {project}. This line changes after the first one.
        </span>
      ) : (
        <>
          <span className="is-succeeded seen-mark" aria-hidden="true" /> Seen <Ago time={data} />.{" "}
          {"invocationsOf" in seen ? (
            <Link to="/invocations" search={project === "default" ? {} : { project }}>
              See its invocations
            </Link>
          ) : null}
        </>
      )}
    </p>
  );
}

/** The same rule as the farm's. */
function isProject(name: string): boolean {
  return name.length <= 128 && /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9._-]+)*$/.test(name);
}

function mayBuild({ grants }: Caller): boolean {
  const verbs = new Set<string>(grants.map(({ verb }) => verb));
  return verbs.has("*") || (verbs.has("execute") && verbs.has("cache"));
}

function tokenCommand(project: string): string {
  const where = project === "default" ? "" : ` --repository ${project}`;
  return [
    ...["execute", "cache", "report"].map((verb) => `grange grant add builder ${verb}${where}`),
    "grange token create builder",
  ].join(" && ");
}
