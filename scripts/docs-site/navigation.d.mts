export const navigation: readonly {
  readonly title: string;
  readonly documents: readonly string[];
}[];
