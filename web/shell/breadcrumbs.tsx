import { Link, useRouterState } from "@tanstack/react-router";
import { setCrumbsSlot } from "../parts/crumbs.tsx";
import { groupOf, pageAbove } from "./navigation.ts";

/** Where the page is: the home page, its group, the page of the group above it, and what the page itself adds. */
export function Breadcrumbs() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  if (path === "/") return null;
  const group = groupOf(path);
  const parent = pageAbove(path);
  return (
    <nav className="crumbs" aria-label="Breadcrumbs">
      <Link to="/">Home</Link>
      {group === undefined || group.label === parent?.label ? null : <> / {group.label}</>}
      {parent === undefined ? null : (
        <>
          {" / "}
          <Link to={parent.to}>{parent.label}</Link>
        </>
      )}
      <span ref={setCrumbsSlot} className="own-crumbs" />
    </nav>
  );
}
