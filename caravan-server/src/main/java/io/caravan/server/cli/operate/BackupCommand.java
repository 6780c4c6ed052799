package io.caravan.server.cli.operate;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Backs up the open store of a server. */
@Command(
        name = "backup",
        description = {
            "Has a server copy its open store to the folder NAME of its --backup-dir, while it is used, and waits until the"
                    + " copy is whole and durable. It is the store as it was at one moment, everything acknowledged"
                    + " before the call included, and opens like the store itself. Until it is whole, the folder's name"
                    + " ends with .partial; a backup that fails leaves nothing.",
            "After two seconds the error stream tells how far it is. Ctrl-C ends the command, and not the backup. Needs the"
                    + " permission admin."
        },
        exitCodeList = {
            "0:the backup is whole and durable",
            "1:failed: no server, no permission, no --backup-dir, a name in use, another backup under way, no space",
            "2:usage error"
        },
        footer = {
            "  caravan backup monday",
            "  caravan backup before-update --json",
            "  caravan backup monday --server db.example:6380 --tls --user operator --password-file operator.secret"
        })
final class BackupCommand extends ClientCommand {
    private static final double MILLIS_PER_SECOND = 1_000;

    @Parameters(
            paramLabel = "NAME",
            description = "The new folder: 1 to 200 letters, digits, '-', '_' and '.', not '-' or '.' first.")
    private String name;

    @Override
    protected void run(Output output) throws IOException {
        // The progress requires a second connection, because the first one waits until the backup ends.
        ServerConnection asking = connect();
        try (ServerConnection connection = connect();
                Progress shown = Progress.ticking(err(), console().showsProgress(), () -> howFar(asking))) {
            print(make(connection), output);
        } finally {
            asking.cut();
        }
    }

    private Map<String, @Nullable Object> make(ServerConnection connection) {
        try {
            return connection.askAtLeisure("CARAVAN.BACKUP", name);
        } catch (ServerConnection.LostException lost) {
            throw ClientException.failed(
                    lost.getMessage() + "; the backup may go on: 'caravan stat --all' says so (backup_in_progress)",
                    lost);
        }
    }

    private static String howFar(ServerConnection asking) {
        try {
            return howFar(asking.info());
        } catch (ClientException | ServerConnection.LostException problem) {
            return "how far the backup is cannot be told: " + problem.getMessage();
        }
    }

    static String howFar(ServerInfo info) {
        long total = info.numberOrZero("backup_total_bytes");
        return total == 0
                ? "the backup begins"
                : "copied " + Figures.size(info.numberOrZero("backup_done_bytes")) + " of " + Figures.size(total);
    }

    private void print(Map<String, @Nullable Object> made, Output output) throws IOException {
        String path = String.valueOf(made.get("path"));
        long files = number(made, "files");
        long bytes = number(made, "bytes");
        long lsn = number(made, "lsn");
        long millis = number(made, "millis");
        String line = path + " has the store as it was at log position " + lsn + ": " + Figures.count(files, "file")
                + ", " + Figures.size(bytes) + ", in "
                + String.format(Locale.ROOT, "%.1f s", millis / MILLIS_PER_SECOND);
        print(output, DocumentName.printable(line), fields -> {
            fields.writeStringField("path", path);
            fields.writeNumberField("files", files);
            fields.writeNumberField("bytes", bytes);
            fields.writeNumberField("lsn", lsn);
            fields.writeNumberField("millis", millis);
        });
    }

    private static long number(Map<String, @Nullable Object> made, String field) {
        return (Long) Objects.requireNonNull(made.get(field));
    }
}
