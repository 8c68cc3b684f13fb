import { Link, Outlet } from "@tanstack/react-router";
import { StateShapes } from "../parts/state-shapes.tsx";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { ConnectionSign } from "./connection-sign.tsx";
import { KeysSheet } from "./keys-sheet.tsx";
import { Logo } from "./logo.tsx";
import { GroupNavigation, MainNavigation } from "./main-navigation.tsx";
import { PaletteButton } from "./palette/palette-button.tsx";
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
          <Logo />
          <span className="brand-name">Grange</span>
        </Link>
        <MainNavigation />
        <ConnectionSign />
        <PaletteButton />
        <KeysSheet />
        <ThemeButton />
        <Who />
      </header>
      <GroupNavigation />
      <Breadcrumbs />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
