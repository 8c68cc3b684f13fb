export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "grange.theme";

export function savedTheme(): Theme {
  return themes.find((theme) => theme === localStorage.getItem(key)) ?? "system";
}

/** `system` leaves the choice to the style sheet's `prefers-color-scheme`. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
