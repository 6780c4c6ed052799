package io.caravan.server.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.operate.Rates.Sample;
import io.caravan.server.cli.operate.Rates.Sample.Client;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.ScreenTerminal;
import org.jline.utils.ScreenTerminal.VirtualTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the content that a live screen shows on an emulated terminal of a given size. */
class LiveScreenTest {
    private static final Duration AT_ONCE = Duration.ofMillis(1);
    /** The time limit for key presses, long enough for a busy machine. The key that quits ends the wait earlier. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private static VirtualTerminal terminal(int columns, int rows) throws IOException {
        return ScreenTerminal.withTerminal("test", "xterm-256color", columns, rows);
    }

    private static Sample sample(long atSeconds, long appends) {
        String statistics =
                "# S\r\ncaravan_version:1.2.3\r\nuptime_in_seconds:7200\r\ndocuments:12345\r\nstore_state:ok\r\n"
                        + "durability:sync\r\nappends:" + appends + "\r\nlog_bytes:123456789012\r\n"
                        + "heap_total_bytes:134217728\r\nheap_used_bytes:136314880\r\nheap_free_bytes:67108864\r\n"
                        + "archive_state:owner\r\n";
        List<Client> clients = Stream.of("1 b 900 \u6587\u66f8\u6587\u66f8\u6587\u66f8\u6587\u66f8", "2 a 100 x")
                .map(client -> client.split(" "))
                .map(client -> new Client(
                        Long.parseLong(client[0]),
                        "10.0.0." + client[0] + ":50000",
                        client[1],
                        client[3],
                        atSeconds * Long.parseLong(client[2])))
                .toList();
        return new Sample(TimeUnit.SECONDS.toNanos(atSeconds), ServerInfo.parse(statistics), clients);
    }

    private static Rates rates(long appends) {
        return new Rates(sample(10, 1_000_000), sample(12, 1_000_000 + 2 * appends));
    }

    private static List<String> rows(VirtualTerminal terminal) {
        int columns = terminal.screen().getColumns();
        int rows = terminal.screen().getRows();
        long[] cells = new long[columns * rows];
        terminal.screen().dump(cells, new int[2]);
        return IntStream.range(0, rows)
                .mapToObj(row -> IntStream.range(row * columns, (row + 1) * columns)
                        .map(at -> ScreenTerminal.cellCodePoint(cells[at]))
                        // The second cell of a wide character is empty.
                        .filter(codePoint -> codePoint != 0)
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString()
                        .stripTrailing())
                .toList();
    }

    private static String text(VirtualTerminal terminal) {
        return String.join("\n", rows(terminal)).stripTrailing();
    }

    @ParameterizedTest
    @CsvSource({"200,60", "80,24", "80,10", "60,24", "40,24", "40,12", "33,7", "20,5", "10,3", "5,2", "1,2", "3,1"})
    void drawsOneLinePerRowAtAnySize(int columns, int rows) throws IOException {
        VirtualTerminal terminal = terminal(columns, rows);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            screen.show(rates(50));
            List<String> shown = rows(terminal);
            List<String> fullLines = Screen.lines(rates(50)).stream()
                    .map(AttributedString::toString)
                    .toList();
            int used = text(terminal).split("\n").length;
            assertThat(used).isLessThanOrEqualTo(Math.max(1, rows - 1));
            if (rows > 2) {
                assertThat(shown.get(0)).isNotEmpty();
            }
            for (String row : shown.subList(0, used - 1)) {
                assertThat(fullLines).as("'%s' begins a line", row).anyMatch(line -> line.startsWith(row));
            }
            assertThat("q quits, p pauses").startsWith(shown.get(used - 1));
        }
    }

    @Test
    void standardTerminalShowsAllStatistics() throws IOException {
        VirtualTerminal terminal = terminal(80, 24);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            screen.show(rates(50));
            assertThat(rows(terminal))
                    .anyMatch(row -> row.matches("appends +50\\.0 +1,000,100"))
                    .contains(
                            "values       130.0 MiB in the log and the heap",
                            "heap         64.0 MiB of 128.0 MiB (50%) free, largest hole 0 B")
                    .anyMatch(row -> row.startsWith("archive      owner"))
                    .anyMatch(row -> row.startsWith("10.0.0.1:50000"))
                    .noneMatch(row -> row.matches(".*[0-9]$") && row.length() == 80);
        }
    }

    @Test
    void narrowTerminalDoesNotCutNumbers() throws IOException {
        VirtualTerminal terminal = terminal(36, 40);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            screen.show(rates(50));
            assertThat(rows(terminal))
                    .contains("appends                50.0")
                    .anyMatch(row -> row.equals("caravan 1.2.3, up 2h"));
        }
    }

    @Test
    void adaptsToTerminalResize() throws IOException {
        VirtualTerminal terminal = terminal(80, 24);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            screen.show(rates(50));
            terminal.screen().setSize(30, 6);
            terminal.terminal().setSize(new Size(30, 6));
            screen.show(rates(50));
            assertThat(rows(terminal)).hasSize(6);
            assertThat(rows(terminal).get(0)).isEqualTo("caravan 1.2.3, up 2h");
            assertThat(rows(terminal).get(4)).startsWith("q quits, p pauses");
            assertThat(rows(terminal).get(5)).isEmpty();
        }
    }

    @Test
    void pausedScreenDoesNotUpdate() throws IOException {
        VirtualTerminal terminal = terminal(80, 24);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            screen.show(rates(50));
            terminal.terminal().processInputBytes("p".getBytes());
            awaitFooter(screen, terminal, "q quits, p RESUMES");
            screen.show(rates(70));
            assertThat(text(terminal)).containsPattern("appends +50\\.0 ");
            terminal.terminal().processInputBytes(" ".getBytes());
            awaitFooter(screen, terminal, "q quits, p pauses");
            screen.show(rates(70));
            assertThat(text(terminal)).containsPattern("appends +70\\.0 ");
        }
    }

    private static void awaitFooter(LiveScreen screen, VirtualTerminal terminal, String footer) throws IOException {
        long endNanos = System.nanoTime() + LONG.toNanos();
        while (!text(terminal).endsWith(footer)) {
            assertThat(System.nanoTime()).as("the key is obeyed in time").isLessThan(endNanos);
            assertThat(screen.handleKeys(AT_ONCE)).isTrue();
        }
    }

    @Test
    void qKeyQuitsImmediately() throws IOException {
        VirtualTerminal terminal = terminal(80, 24);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            assertThat(screen.handleKeys(AT_ONCE)).isTrue();
            terminal.terminal().processInputBytes("xq".getBytes());
            assertThat(screen.handleKeys(LONG)).isFalse();
        }
    }

    /** Ctrl-C must still send a signal, because a command that is waiting for a server does not read keys. */
    @Test
    void readsKeysImmediatelyAndKeepsCtrlCSignal() throws IOException {
        Terminal terminal = terminal(80, 24).terminal();
        try (LiveScreen screen = new LiveScreen(terminal)) {
            assertThat(screen.handleKeys(AT_ONCE)).isTrue();
            assertThat(terminal.getAttributes().getLocalFlag(LocalFlag.ICANON)).isFalse();
            assertThat(terminal.getAttributes().getLocalFlag(LocalFlag.ECHO)).isFalse();
            assertThat(terminal.getAttributes().getLocalFlag(LocalFlag.ISIG)).isTrue();
        }
    }

    @Test
    void showsProblemUntilNextSample() throws IOException {
        VirtualTerminal terminal = terminal(80, 10);
        try (LiveScreen screen = new LiveScreen(terminal.terminal())) {
            screen.show(rates(50));
            screen.showProblem("no server answers\u001b[2J; waiting for it");
            assertThat(text(terminal))
                    .contains("caravan 1.2.3", "\nno server answers\\u001b[2J; waiting for it\nq quits");
            screen.show(rates(50));
            assertThat(text(terminal)).doesNotContain("waiting");
        }
    }

    @Test
    void commandDrawsOnTerminal() throws IOException {
        VirtualTerminal terminal = terminal(80, 24);
        terminal.terminal().processInputBytes("q".getBytes());
        CommandRun top = run(terminal.terminal(), "top", "--interval", "5m").succeeds();
        assertThat(top.out()).isEmpty();
        assertThat(text(terminal)).isEqualTo("q quits, p pauses");
    }

    @Test
    void printsPlainTextOnDumbTerminal() throws IOException {
        Terminal dumb =
                ScreenTerminal.withTerminal("test", Terminal.TYPE_DUMB, 80, 24).terminal();
        CommandRun top = run(dumb, "top", "--count", "1", "--interval", "100ms");
        assertThat(top.out()).contains("each second", "archive      none\n").doesNotContain("\u001b", "q quits");
    }

    private static CommandRun run(Terminal terminal, String... words) throws IOException {
        TerminalBuilder.setTerminalOverride(terminal);
        try (ServedStore served = new ServedStore()) {
            return CommandRun.onTerminal().run(served.address(), words);
        } finally {
            TerminalBuilder.setTerminalOverride(null);
        }
    }
}
