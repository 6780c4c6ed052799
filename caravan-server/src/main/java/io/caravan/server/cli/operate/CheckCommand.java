package io.caravan.server.cli.operate;

import io.caravan.catalog.DocumentName;
import io.caravan.io.FileStorage;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.operate.Checks.Status;
import io.caravan.server.cli.operate.Checks.Thresholds;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "check",
        description = {
            "Runs a Nagios-compatible health check. Prints one status line, with the measured values and their"
                    + " limits after a vertical bar, and exits with the status. Requires the admin permission, and"
                    + " changes nothing.",
            "The status is always CRITICAL if the server does not reply, or its store rejects writes. Each option"
                    + " sets two limits, or off, which disables the check."
        },
        exitCodeOnInvalidInput = 3,
        exitCodeList = {
            "0:OK",
            "1:WARNING: a value exceeds its first limit, or the server cannot write to its archive yet",
            "2:CRITICAL: a value exceeds its second limit, the server does not reply or rejects writes, or another"
                    + " server owns the archive",
            "3:UNKNOWN: missing permission, wrong password, or usage error"
        },
        footer = {
            "  caravan check",
            "  caravan check --server db.example:6380 --tls --user monitor --password-file monitor.secret",
            "  caravan check --space 20,10 --overdue 30m,2h --replay off",
            "  caravan check --json"
        })
public final class CheckCommand extends ClientCommand {
    @Mixin
    private Limits options;

    @Override
    protected void run(Output output) throws IOException {
        Checks checks = new Checks(options);
        long began = System.nanoTime();
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            checks.judge(info, System.nanoTime() - began);
        } catch (ServerConnection.LostException unreachable) {
            checks.problem(Status.CRITICAL, String.valueOf(unreachable.getMessage()));
        } catch (ClientException failed) {
            checks.problem(Status.UNKNOWN, String.valueOf(failed.getMessage()));
        } catch (IOException failed) {
            checks.problem(Status.UNKNOWN, FileStorage.problem(failed));
        }
        exitWith(checks.status().exitCode());
        output.print(DocumentName.printable(checks.line()), checks.fields());
    }

    static final class Limits {
        private static final String LABEL = "WARNING,CRITICAL";

        @Option(
                names = "--space",
                paramLabel = LABEL,
                defaultValue = "15%,5%",
                converter = Thresholds.Percents.class,
                description = "Minimum free space of the store's file system.")
        Thresholds space;

        @Option(
                names = "--replay",
                paramLabel = LABEL,
                defaultValue = "1GiB,8GiB",
                converter = Thresholds.Sizes.class,
                description = "Maximum length of the log that recovery after a crash would replay. It grows if"
                        + " checkpoints fail. The age of the last checkpoint is not checked, because a store without"
                        + " writes needs no checkpoint.")
        Thresholds replay;

        @Option(
                names = "--overdue",
                paramLabel = LABEL,
                defaultValue = "2h,12h",
                converter = Thresholds.Times.class,
                description = "Maximum time by which the archive exceeds the delay that archive-after allows. off"
                        + " also disables the check of the owner.")
        Thresholds overdue;

        @Option(
                names = "--reply",
                paramLabel = LABEL,
                defaultValue = "500ms,5s",
                converter = Thresholds.Times.class,
                description = "Maximum time to connect and to receive a reply.")
        Thresholds reply;

        @Option(
                names = "--ack",
                paramLabel = LABEL,
                defaultValue = "500ms,5s",
                converter = Thresholds.Times.class,
                description = "Maximum 99th percentile of the time from a write to its acknowledgment, since the"
                        + " server started.")
        Thresholds ack;
    }
}
