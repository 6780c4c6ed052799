package io.caravan.server.cli.support;

import static io.caravan.server.cli.common.Figures.size;

import io.caravan.catalog.DocumentName;
import io.caravan.io.FileStorage;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.support.SupportFile.Missing;
import io.caravan.server.cli.support.SupportFile.Part;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.Setting;
import io.caravan.server.config.UserFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "support",
        description = {
            "Creates a ZIP file with diagnostics for support: the status and settings of the server, its slow commands,"
                    + " the files of its store, the machine, and the end of its log. The file contains no names or"
                    + " values of documents, and no secrets: only data on an allow list gets into it. It lists data"
                    + " that is not available, for example because a server is down, with the reason.",
            "Prints the contents of the file: check them before you send it. Only you can read the file. The command"
                    + " changes nothing else. Run it as the user who runs the server; the data of the server requires"
                    + " the permission admin."
        },
        exitCodeList = {
            "0:the file was created, with all requested data",
            "1:no file was created",
            "2:usage error",
            "3:the file was created, but some data is not available; the output lists it"
        },
        footer = {
            "  caravan support --store /var/lib/caravan/data --log caravan.log",
            "  caravan support --server db.example:6380 --tls --password-file admin.secret --out help.zip",
            "  caravan support --config /etc/caravan/caravan.properties --store data --json"
        })
public final class SupportCommand extends ClientCommand {
    private static final int USUAL_HTTP_PORT = 4437;
    private static final int MAX_PORT = 65_535;
    private static final long USUAL_CONNECTIONS = 10_000;
    private static final DateTimeFormatter NAME = DateTimeFormatter.ofPattern(
                    "'caravan-support-'yyyyMMdd-HHmmss'.zip'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    @Option(
            names = "--store",
            paramLabel = "DIR",
            description = "The store's directory, open or closed; it is only read.")
    private @Nullable Path store;

    @Option(
            names = "--log",
            paramLabel = "FILE",
            description = "The server's log, for example from journalctl -u caravan. The command reads its last 2 MiB.")
    private @Nullable Path log;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The settings file, for a server that does not start.")
    private @Nullable Path config;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The file to create, which must not exist; by default caravan-support-TIME.zip in the"
                    + " current directory.")
    private @Nullable Path out;

    private volatile String step = "";

    @Override
    protected void run(Output output) throws IOException {
        int usual = usualPort();
        Instant now = Instant.now();
        Path target = out != null ? out : Path.of(NAME.format(now));
        SupportFile file = new SupportFile(now);
        make(target, file, usual);
        print(output, file, target);
        exitWith(file.missing().isEmpty() ? CommandLine.ExitCode.OK : UNEXPECTED);
    }

    /** Returns the HTTP port to try if the server does not report its port. */
    private int usualPort() {
        String listens = console().environment().getOrDefault("CARAVAN_HTTP", "");
        try {
            return listens.isEmpty() ? USUAL_HTTP_PORT : HostPort.parse(listens).port();
        } catch (IllegalArgumentException wrong) {
            throw misused("CARAVAN_HTTP: " + wrong.getMessage());
        }
    }

    /** Writes the file, and deletes it if that fails. */
    private void make(Path target, SupportFile file, int usualPort) throws IOException {
        OutputStream to = create(target);
        boolean made = false;
        try (to;
                Progress progress = showProgress(() -> step)) {
            collect(file, usualPort);
            step = "writing " + target;
            file.write(to);
            made = true;
        } finally {
            if (!made) {
                Files.delete(target);
            }
        }
    }

    private static OutputStream create(Path target) throws IOException {
        try {
            return SupportFile.create(target);
        } catch (FileAlreadyExistsException there) {
            throw ClientException.failed(target + " exists already, and is not overwritten: use another --out", there);
        }
    }

    private void collect(SupportFile file, int usualPort) {
        step = "requesting the data of the server";
        ServerReport server = new ServerReport(file, this::printMessage);
        server.overResp(this::connect);
        long reported = server.info().numberOrZero("http_port");
        int port = reported > 0 && reported <= MAX_PORT ? (int) reported : usualPort;
        server.overHttp(connectionOptions, port);
        step = "reading the state of the machine";
        MachineReport machine = new MachineReport(Path.of("/"));
        machine.report(file, store, server.info().number("maxclients").orElse(USUAL_CONNECTIONS));
        server.info().number("process_id").ifPresent(process -> machine.process(file, process));
        if (config != null) {
            Path from = config;
            part(file, "settings.json", "--config cannot be read, or is not a settings file", () -> {
                List<Setting> rows = UserFiles.properties(from).entrySet().stream()
                        .flatMap(each -> AllowList.setting(each.getKey(), each.getValue(), "file " + from).stream())
                        .toList();
                file.json("settings.json", "settings in the file of --config", rows);
            });
        }
        if (store != null) {
            StoreReport.report(
                    file, store, (what, done, total) -> step = "reading " + what + ": " + done + " of " + total);
        }
        if (log != null) {
            step = "reading the log";
            Path from = log;
            part(
                    file,
                    "log.txt",
                    "--log is not a file that this user may read",
                    () -> file.text(
                            "log.txt", "the end of the log: only the program's own words", new LogTail().of(from)));
        }
    }

    private void part(SupportFile file, String name, String otherwise, Output.Writing adding) {
        try {
            adding.write();
        } catch (IOException unreadable) {
            file.missing(name, otherwise);
            printMessage(FileStorage.problem(unreadable));
        }
    }

    private void print(Output output, SupportFile file, Path target) throws IOException {
        long bytes = Files.size(target);
        if (json()) {
            output.object(Output.fields(
                    "file", target.toString(), "bytes", bytes, "parts", file.parts(), "missing", file.missing()));
            return;
        }
        for (Part part : file.parts()) {
            output.line(part.name() + "  " + size(part.bytes()) + "  " + part.about());
        }
        for (Missing each : file.missing()) {
            output.line("not available: " + each.name() + ": " + each.why());
        }
        output.line(DocumentName.printable(
                "created " + target + ", " + size(bytes) + ", which only you can read; check it before you send it"));
    }
}
