package io.caravan.server.cli.operate;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Reports the health of a server in one line and an exit code. */
@Command(
        name = "check",
        description = {
            "Says in one line how a server is, for monitoring systems that run Nagios's plugins: whether it answers"
                    + " and takes writes, its free space, what its archive lags behind, how much log a start would replay,"
                    + " and how soon it answers and acknowledges. The exit code is the status.",
            "The line goes to the standard output, with the figures and their limits behind a bar. Needs the permission"
                    + " admin. Changes nothing."
        },
        exitCodeOnInvalidInput = 3,
        exitCodeList = {
            "0:OK",
            "1:WARNING: a figure is beyond its limit; somebody should look",
            "2:CRITICAL: the server does not answer or takes no writes, or a figure is far beyond its limit",
            "3:UNKNOWN: no permission, a wrong password, a usage error"
        },
        footer = {
            "  caravan check",
            "  caravan check --server db.example:6380 --tls --user monitor --password-file monitor.secret",
            "  caravan check --space 20,10 --overdue 30m,2h --replay off",
            "  caravan check --json"
        })
final class CheckCommand extends ClientCommand {
    @Mixin
    private CheckOptions options;

    private Status status = Status.UNKNOWN;

    @Override
    protected void run(Output output) throws IOException {
        Verdict verdict = look();
        status = verdict.status();
        print(output, DocumentName.printable(verdict.line()), verdict::write);
    }

    private Verdict look() {
        long began = System.nanoTime();
        try (ServerConnection connection = connect()) {
            ServerInfo info = connection.info();
            return new Checks(options).judge(info, System.nanoTime() - began);
        } catch (ServerConnection.LostException unreachable) {
            return Verdict.without(Status.CRITICAL, String.valueOf(unreachable.getMessage()));
        } catch (ClientException | IOException notAsked) {
            return Verdict.without(Status.UNKNOWN, String.valueOf(notAsked.getMessage()));
        }
    }

    @Override
    protected int exitCode() {
        return status.exitCode();
    }
}
