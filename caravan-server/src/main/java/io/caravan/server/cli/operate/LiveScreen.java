package io.caravan.server.cli.operate;

import io.caravan.catalog.DocumentName;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;
import org.jline.utils.ClosedException;
import org.jline.utils.Display;
import org.jline.utils.NonBlockingReader;
import org.jspecify.annotations.Nullable;

/** Draws the lines of {@link Screen} in place on a terminal of any size, and handles keys. Not thread-safe. */
final class LiveScreen implements AutoCloseable {
    /** The size that is assumed if a terminal does not report its size. */
    private static final Size USUAL = new Size(80, 24);

    private final Terminal terminal;
    private final Display display;
    private Size size = new Size(0, 0);
    private boolean paused;
    private String problem = "";
    private @Nullable Rates rates;

    /** Takes control of a terminal until {@link #close}. */
    LiveScreen(Terminal terminal) {
        this.terminal = terminal;
        terminal.enterRawMode();
        // Ctrl-C ends the process even while it waits for the server. JLine's shutdown hook then restores the terminal.
        Attributes attributes = terminal.getAttributes();
        attributes.setLocalFlag(Attributes.LocalFlag.ISIG, true);
        terminal.setAttributes(attributes);
        display = new Display(terminal, true);
        draw();
    }

    /** Shows the latest rates, unless the screen is paused. */
    void show(Rates latest) {
        problem = "";
        if (!paused) {
            rates = latest;
        }
        draw();
    }

    /** Shows a problem until the next rates are shown. */
    void showProblem(String message) {
        problem = message;
        draw();
    }

    /** Handles key presses for this duration. Returns false as soon as the user has pressed the key to quit. */
    boolean handleKeys(Duration time) throws IOException {
        long endNanos = System.nanoTime() + time.toNanos();
        long leftNanos = time.toNanos();
        while (leftNanos > 0) {
            int key = read(leftNanos);
            switch (key) {
                case 'q', 'Q', NonBlockingReader.EOF -> {
                    return false;
                }
                case 'p', 'P', ' ' -> paused = !paused;
                default -> {
                    // The time is up, or the key has no function.
                }
            }
            if (key != NonBlockingReader.READ_EXPIRED) {
                draw();
            }
            leftNanos = endNanos - System.nanoTime();
        }
        return true;
    }

    private int read(long waitNanos) throws IOException {
        try {
            // A timeout of 0 would mean no timeout.
            return terminal.reader().read(Math.max(1, TimeUnit.NANOSECONDS.toMillis(waitNanos)));
        } catch (ClosedException | InterruptedIOException ending) {
            // The process ends, so JLine has closed the terminal.
            return NonBlockingReader.EOF;
        }
    }

    private void draw() {
        Size now = terminal.getSize();
        now = now.getRows() > 0 && now.getColumns() > 0 ? now : USUAL;
        if (!now.equals(size)) {
            size = now;
            display.resize(size);
            display.clear();
        }
        List<AttributedString> lines = rates == null ? List.of() : Screen.lines(rates);
        List<AttributedString> picture = fit(lines, footer(), size);
        // Leaves the cursor below the lines, where the next shell prompt will start.
        display.update(picture, size.cursorPos(Math.min(picture.size(), size.getRows() - 1), 0));
    }

    private List<AttributedString> footer() {
        List<AttributedString> footer = new ArrayList<>();
        if (!problem.isEmpty()) {
            footer.add(new AttributedString(DocumentName.printable(problem), Screen.ALARM));
        }
        footer.add(new AttributedString("q quits, p " + (paused ? "RESUMES" : "pauses"), AttributedStyle.INVERSE));
        return footer;
    }

    /**
     * Returns the lines and the footer, as far as they fit, and leaves one row for the cursor. Omits empty lines first,
     * then the last ones.
     */
    static List<AttributedString> fit(List<AttributedString> lines, List<AttributedString> footer, Size size) {
        int rows = Math.max(1, size.getRows() - 1);
        int room = Math.max(0, rows - footer.size());
        List<AttributedString> fitting = new ArrayList<>(lines);
        if (fitting.size() > room) {
            fitting.removeIf(line -> line.length() == 0);
        }
        fitting = new ArrayList<>(fitting.subList(0, Math.min(room, fitting.size())));
        fitting.addAll(footer.subList(Math.max(0, footer.size() - rows), footer.size()));
        fitting.replaceAll(line -> cut(line, size.getColumns()));
        return fitting;
    }

    /** Cuts an overlong line after the last item that fits completely, so that no number is cut. */
    private static AttributedString cut(AttributedString line, int columns) {
        if (line.columnLength() <= columns) {
            return line;
        }
        AttributedString fitting = line.columnSubSequence(0, columns);
        String rest = line.toString().substring(fitting.length());
        // An item may end exactly at the edge.
        String text = fitting + rest.substring(0, Math.min(2, rest.length()));
        int end = Math.max(text.lastIndexOf("  "), Math.max(text.lastIndexOf(", "), text.lastIndexOf("; ")));
        return end > 0 ? fitting.subSequence(0, end) : fitting;
    }

    /** Leaves the last screen visible, and restores the terminal's settings. */
    @Override
    public void close() throws IOException {
        terminal.close();
    }
}
