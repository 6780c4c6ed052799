package io.caravan.server.cli.carry;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.ServerProcess;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A copy that goes on, as a process that a signal ends. */
@Timeout(120)
class EndedFollowIT {
    /** Whatever ends it, it has not done all that it was asked. */
    @Test
    void aSignalDoesNotHideThatADocumentWasRefused() throws Exception {
        try (ServedStore from = new ServedStore();
                ServedStore to = new ServedStore()) {
            CommandRun.of(from, "append", "a", "1");
            CommandRun.of(to, "append", "a", "another");
            assertThat(endedAfter("was not", from, to, "a")).isEqualTo(3);
        }
    }

    private static int endedAfter(String told, ServedStore from, ServedStore to, String name)
            throws IOException, InterruptedException {
        List<String> command = ServerProcess.command(List.of());
        command.addAll(List.of("copy", name, "--follow", "--server", from.address(), "--to", to.address()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
            String line = lines.readLine();
            while (line != null && !line.contains(told)) {
                line = lines.readLine();
            }
            assertThat(line).isNotNull();
            // Process.destroy() would close what it prints to, too.
            process.toHandle().destroy();
            assertThat(lines.lines().toList())
                    .anyMatch(end -> end.startsWith("followed ") && end.endsWith("; 1 refused"));
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }
}
