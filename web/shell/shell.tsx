import { Link, Outlet } from "@tanstack/react-router";
import { StateShapes } from "../parts/state-shapes.tsx";
import { ConnectionSign } from "./connection-sign.tsx";
import { KeysSheet } from "./keys-sheet.tsx";
import { GroupNavigation, MainNavigation } from "./main-navigation.tsx";
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
        <Link to="/" className="brand" aria-label="Grange: home">
          <img src="/favicon.svg" alt="" width="20" height="20" />
          <span className="brand-name">Grange</span>
        </Link>
        <MainNavigation />
        <ConnectionSign />
        <KeysSheet />
        <ThemeButton />
        <Who />
      </header>
      <GroupNavigation />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
