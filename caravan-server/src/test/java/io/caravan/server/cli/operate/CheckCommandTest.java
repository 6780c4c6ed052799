package io.caravan.server.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreFailedException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.operate.CheckCommand.Limits;
import io.caravan.server.cli.operate.Checks.Status;
import io.caravan.server.security.Authenticator;
import io.caravan.testing.ForwardingListStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Tests the exit code and the output line that {@code check} gives to monitoring systems, in all server states. */
class CheckCommandTest {
    private static final String SECRET = "correct-horse-battery";
    private static final String MONITOR_SECRET = "staple-of-horse-battery";

    /** A store that rejects writes while {@code rejection} is set. */
    private static final class RejectingStore extends ForwardingListStore {
        private volatile @Nullable CaravanException rejection;

        RejectingStore() {
            super(ListStore.inMemory());
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            CaravanException problem = rejection;
            if (problem != null) {
                throw problem;
            }
            super.write(batch, callback);
        }
    }

    private static void says(CommandRun run, int exitCode, String line) {
        assertThat(run.err()).isEmpty();
        assertThat(run.out().lines()).hasSize(1);
        assertThat(run.out()).matches("(?s)" + line + ".*");
        assertThat(run.exitCode()).isEqualTo(exitCode);
    }

    /** Runs {@code check} with limits that even a full disk or a busy machine does not exceed. */
    private static CommandRun check(ServedStore served, String... options) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("check", "--space", "off", "--reply", "30s,1m", "--ack", "30s,1m"));
        arguments.addAll(List.of(options));
        return CommandRun.of(served, arguments.toArray(String[]::new));
    }

    @Test
    void healthyServerIsOk() throws IOException {
        try (ServedStore served = new ServedStore()) {
            CommandRun.of(served, "append", "a", "x");
            says(
                    check(served),
                    0,
                    "CARAVAN OK - serves 1 document for [0-9]+s, [0-9.]+ .iB free"
                            + " \\| reply=[0-9.]+s;30;60 space=[0-9.]+%;; replay=[0-9]+B;1073741824;8589934592"
                            + " ack_p99=[0-9.]+s;30;60 connections=1;;");
            CommandRun json = check(served, "--json").exits(0);
            assertThat(json.out())
                    .startsWith("{\"status\":\"ok\",\"text\":\"serves 1 document for ")
                    .contains("\"replay\":{\"status\":\"ok\",\"value\":");
        }
    }

    @Test
    void stoppedServerIsCriticalUntilRestart() throws IOException {
        try (ServedStore served = new ServedStore()) {
            served.stop();
            says(CommandRun.of(served, "check"), 2, "CARAVAN CRITICAL - no server listens at 127.0.0.1:");
            says(CommandRun.of(served, "check", "--json"), 2, "\\{\"status\":\"critical\",");
            served.start();
            says(check(served), 0, "CARAVAN OK ");
        }
    }

    @Test
    void storeRejectingWritesIsCriticalWithReason() throws IOException {
        RejectingStore store = new RejectingStore();
        try (ServedStore served = new ServedStore(store, config -> config)) {
            store.rejection = new OutOfSpaceException("no space | at all");
            CommandRun.of(served, "append", "a", "x");
            says(
                    check(served),
                    2,
                    "CARAVAN CRITICAL - the store has no space and rejects writes: no space / at all \\| reply=");
            store.rejection = new StoreFailedException("disk gone", new IOException("EIO"));
            CommandRun.of(served, "append", "a", "x");
            says(check(served), 2, "CARAVAN CRITICAL - the store has failed and rejects writes: disk gone");
            store.rejection = null;
        }
    }

    @Test
    void checkRequiresOnlyAdmin(@TempDir Path directory) throws IOException {
        Path users = Files.writeString(directory.resolve("users"), """
                reader.secret = %s
                reader.permissions = read
                monitor.secret = %s
                monitor.permissions = admin
                """.formatted(SECRET, MONITOR_SECRET));
        Authenticator authenticator = Authenticator.ofSecrets(users);
        try (ServedStore served = new ServedStore(config -> config.withAuthenticator(authenticator))) {
            says(CommandRun.of(served, "check"), 3, "CARAVAN UNKNOWN - the server requires a password");
            CommandRun wrong = CommandRun.with(Map.of("CARAVAN_PASSWORD", "wrong"), new byte[0])
                    .run(served.address(), "check");
            says(wrong, 3, "CARAVAN UNKNOWN - the server does not know this user and password");
            CommandRun reader = CommandRun.with(Map.of("CARAVAN_PASSWORD", SECRET), new byte[0])
                    .run(served.address(), "check");
            says(reader, 3, "CARAVAN UNKNOWN - the server replies, but reports its state only to users with");
            CommandRun monitor = CommandRun.with(Map.of("CARAVAN_PASSWORD", MONITOR_SECRET), new byte[0])
                    .run(served.address(), "check", "--space", "off", "--reply", "off", "--ack", "off");
            says(monitor, 0, "CARAVAN OK ");
        }
    }

    @Test
    void invalidUsageExitsWithUnknown() throws IOException {
        try (ServedStore served = new ServedStore()) {
            for (String wrong : new String[] {"10", "10%,x", "200%,5%", "", "5%,15%"}) {
                CommandRun.of(served, "check", "--space", wrong).exits(3);
            }
            assertThat(CommandRun.of(served, "check", "--replay", "8GiB,1GiB")
                            .exits(3)
                            .err())
                    .contains("'8GiB,1GiB' has its limits in the wrong order: the second limit must not be below");
        }
    }

    private static Checks judge(String statistics, String... options) {
        Limits limits = CommandLine.populateCommand(new Limits(), options);
        String usual = "# P\r\nstore_state:ok\r\ndisk_free_bytes:50\r\ndisk_total_bytes:100\r\narchive_state:none\r\n";
        Checks checks = new Checks(limits);
        checks.judge(ServerInfo.parse(usual + statistics), 1_000_000);
        return checks;
    }

    @ParameterizedTest
    @CsvSource({
        "disk_free_bytes:15, OK",
        "disk_free_bytes:14, WARNING",
        "disk_free_bytes:4, CRITICAL",
        "disk_free_bytes:-1, UNKNOWN",
        "log_bytes_since_checkpoint:1073741824, OK",
        "log_bytes_since_checkpoint:1073741825, WARNING",
        "log_bytes_since_checkpoint:8589934593, CRITICAL",
        "ack_p99_us:500000, OK",
        "ack_p99_us:500001, WARNING",
        "ack_p99_us:5000001, CRITICAL",
        "archive_state:owner, OK",
        "archive_state:claiming, WARNING",
        "archive_state:fenced, CRITICAL",
        "archive_state:rejected, CRITICAL",
    })
    void gradesStatisticsByTheirLimits(String statistic, Status expected) {
        assertThat(judge(statistic).status()).isEqualTo(expected);
    }

    /** Some network file systems report the largest possible size. */
    @ParameterizedTest
    @CsvSource({"9223372036854775807, OK", "1000000000000000000, WARNING", "400000000000000000, CRITICAL"})
    void gradesSpaceOfHugeFileSystem(long free, Status expected) {
        assertThat(judge("disk_free_bytes:" + free + "\r\ndisk_total_bytes:" + Long.MAX_VALUE)
                        .status())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"50, OK", "10, OK", "3, CRITICAL"})
    void equalLimitsHaveNoWarning(int free, Status expected) {
        assertThat(judge("disk_free_bytes:" + free, "--space", "10%,10%").status())
                .isEqualTo(expected);
    }

    @Test
    void checksOverdueOnlyWithArchive() {
        String overdue = "archive_overdue_seconds:7201.5\r\n";
        assertThat(judge(overdue).status()).isEqualTo(Status.OK);
        assertThat(judge("archive_state:owner\r\n" + overdue).status()).isEqualTo(Status.WARNING);
        assertThat(judge("archive_state:owner\r\n" + overdue).line())
                .startsWith("CARAVAN WARNING - the archive is 2h late | ")
                .contains(" overdue=7201s;7200;43200");
        assertThat(judge("archive_state:owner\r\n" + overdue, "--overdue", "off")
                        .status())
                .isEqualTo(Status.OK);
    }

    @Test
    void printsWorstProblemFirst() {
        assertThat(judge("ack_p99_us:600000\r\ndisk_free_bytes:1\r\n").line())
                .startsWith(
                        "CARAVAN CRITICAL - the disk has 1 B free, 1.0%; 1 write in 100 takes 600.0 ms or longer |");
    }
}
