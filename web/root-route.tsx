import { createRootRoute, Link } from "@tanstack/react-router";
import { usePageTitle } from "./parts/page-title.ts";
import { Shell } from "./shell/shell.tsx";

export const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

function NotFound() {
  usePageTitle("Not found");
  return (
    <section className="empty">
      <h1>There is no such page</h1>
      <p>The address may be wrong, or the object may have been deleted.</p>
      <Link to="/">Back to the home page</Link>
    </section>
  );
}
