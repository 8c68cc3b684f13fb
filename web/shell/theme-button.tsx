import { useState } from "react";
import { applyTheme, savedTheme, type Theme, themes } from "./theme.ts";

const pictures: Readonly<Record<Theme, string>> = { system: "◐", light: "☀", dark: "☾" };

export function ThemeButton() {
  const [theme, setTheme] = useState(savedTheme);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
  const change = () => {
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button
      type="button"
      className="quiet"
      title={`Theme: ${theme}. Change to ${next}`}
      aria-label={`Theme: ${theme}`}
      onClick={change}
    >
      <span aria-hidden="true">{pictures[theme]}</span>
    </button>
  );
}
