package io.caravan.bench;

import java.io.PrintStream;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * A terminal line that shows the progress of a task. Nothing is shown during the first two seconds, or if the output is
 * not a terminal. Java cannot detect this, so the start script sets the property {@code caravan.progress}.
 */
public final class ProgressLine {
    private static final long SILENCE_NANOS = Duration.ofSeconds(2).toNanos();
    private static final long INTERVAL_NANOS = Duration.ofMillis(200).toNanos();

    private final PrintStream terminal;
    private final boolean isTerminal = Boolean.getBoolean("caravan.progress");
    private long nextNanos;
    private int shownChars;

    public ProgressLine(PrintStream terminal) {
        this.terminal = terminal;
        nextNanos = System.nanoTime() + SILENCE_NANOS;
    }

    /** Shows the text if an update is due. Cheap enough to call in an inner loop. */
    public void show(Supplier<String> text) {
        long now = System.nanoTime();
        if (!isTerminal || now - nextNanos < 0) {
            return;
        }
        nextNanos = now + INTERVAL_NANOS;
        String line = text.get();
        terminal.print("\r" + line + " ".repeat(Math.max(0, shownChars - line.length())));
        terminal.flush();
        shownChars = line.length();
    }

    /** Clears the line; called before a result is printed. */
    public void clear() {
        if (shownChars > 0) {
            terminal.print("\r" + " ".repeat(shownChars) + "\r");
            terminal.flush();
            shownChars = 0;
        }
    }
}
