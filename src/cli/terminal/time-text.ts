/** Formats a time of the API for people: `2026-03-01 09:30:00 UTC`. */
export function timeText(iso: string): string {
  return `${iso.slice(0, 19).replace("T", " ")} UTC`;
}
