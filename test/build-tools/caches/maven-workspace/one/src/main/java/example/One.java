package example;

public class One {
  public int value() {
    return 1;
  }
}
