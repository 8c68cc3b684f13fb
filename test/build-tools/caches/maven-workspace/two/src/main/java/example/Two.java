package example;

public class Two {
  public int value() {
    return new One().value() + 1;
  }
}
