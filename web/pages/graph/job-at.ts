/** Returns the job of an event: drawn jobs carry their name, so that one listener serves thousands. */
export function jobAt(event: { readonly target: EventTarget | null }): string | undefined {
  const drawn = event.target instanceof Element ? event.target.closest("[data-job]") : null;
  return drawn?.getAttribute("data-job") ?? undefined;
}
