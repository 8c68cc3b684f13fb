import { Link, Outlet } from "@tanstack/react-router";
import { StateShapes } from "../parts/state-shapes.tsx";
import { ConnectionSign } from "./connection-sign.tsx";
import { KeysSheet } from "./keys-sheet.tsx";
import { ThemeButton } from "./theme-button.tsx";
import { Who } from "./who.tsx";

/** The frame around every page. */
export function Shell() {
  return (
    <>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <StateShapes />
      <header className="shell">
        <Link to="/" className="brand" aria-label="Grange: repositories">
          <img src="/favicon.svg" alt="" width="20" height="20" />
          <span className="brand-name">Grange</span>
        </Link>
        <nav aria-label="Main">
          <Link to="/" activeOptions={{ exact: true }}>
            Repositories
          </Link>
          <Link to="/invocations">Invocations</Link>
          <Link to="/granary">Granary</Link>
          <Link to="/new">New graph</Link>
          <Link to="/searches">Searches</Link>
          <Link to="/benchmarks">Benchmarks</Link>
          <Link to="/times">Times</Link>
          <Link to="/workers">Workers</Link>
          <Link to="/size-classes">Size classes</Link>
          <Link to="/connect">Connect</Link>
        </nav>
        <ConnectionSign />
        <KeysSheet />
        <ThemeButton />
        <Who />
      </header>
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
