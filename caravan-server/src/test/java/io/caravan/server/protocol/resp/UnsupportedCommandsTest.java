package io.caravan.server.protocol.resp;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.Durability;
import io.caravan.server.backup.Backups;
import io.caravan.server.metrics.ServerMetrics;
import io.caravan.server.security.Authenticator;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class UnsupportedCommandsTest {
    /** Uppercase words that occur in the advice about unsupported commands but are not commands. */
    private static final Set<String> OTHERS = Set.of("IFSEQ", "BLOCK", "SIGTERM");

    /** The command table, created without server components because the test runs no commands. */
    private static final Map<String, CommandSpec> TABLE = new RespProtocol(
                    new RespLimits(1, 1),
                    new ServerStatus(null, null, Durability.MEMORY, 0, null, null, Backups.none(), null, 0, 0),
                    null,
                    null,
                    Authenticator.open(),
                    new ServerMetrics())
            .table();

    @Test
    void supportedCommandsHaveNoAdvice() {
        assertThat(UnsupportedCommands.ADVICE.keySet())
                .hasSizeGreaterThan(80)
                .doesNotContainAnyElementsOf(TABLE.keySet());
    }

    @Test
    void adviceNamesOnlySupportedCommands() {
        UnsupportedCommands.ADVICE.forEach((command, advice) -> {
            Matcher word = Pattern.compile("[A-Z][A-Z.]{2,}").matcher(advice);
            while (word.find()) {
                assertThat(TABLE.containsKey(word.group()) || OTHERS.contains(word.group()))
                        .as("%s: %s", command, advice)
                        .isTrue();
            }
        });
    }

    @Test
    void truncatesUnknownCommandInError() {
        String word = "x".repeat(1_000);
        String error = UnsupportedCommands.unknown(RespFixture.command(word, word, word, word))
                .text();
        assertThat(error).startsWith("ERR unknown command 'xxx").hasSizeLessThan(500);
    }
}
