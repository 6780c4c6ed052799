package io.caravan.server.cli.space;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.app.ServerFixture;
import io.caravan.server.cli.Main;
import io.caravan.server.cli.common.Console;
import io.caravan.server.document.space.SpaceSetting;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** The {@code caravan space} command with a server. */
class SpaceCommandTest {
    @AutoClose
    private ServerFixture server;

    private String out = "";
    private String err = "";

    @BeforeEach
    void start() throws IOException {
        server = new ServerFixture();
    }

    private static CommandLine caravan(ByteArrayOutputStream printed) {
        return Main.commandLine(Map.of(), new Console(new ByteArrayInputStream(new byte[0]), printed, Map.of(), false));
    }

    private int run(String subcommand, String... words) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        StringWriter errors = new StringWriter();
        CommandLine command = caravan(printed);
        command.setErr(new PrintWriter(errors, true));
        String address = "127.0.0.1:" + server.server.respAddress().getPort();
        int code = command.execute(Stream.concat(Stream.of("space", subcommand, "--server", address), Stream.of(words))
                .toArray(String[]::new));
        out = printed.toString(UTF_8);
        err = errors.toString();
        return code;
    }

    @Test
    void aSpaceIsSetShownListedAndRemoved() {
        assertThat(run("set", "chat/", "retain-values=1000", "max-value-bytes=64KiB"))
                .as(err)
                .isZero();
        assertThat(out)
                .startsWith("space chat/: 0 documents, 0 B\n")
                .contains("  max-value-bytes    65536  (64.0 KiB)\n", "  retain-values      1000\n");
        assertThat(run("set", "chat/", "retain-values=0")).isZero();
        assertThat(out).doesNotContain("retain-values ");
        assertThat(run("set", "a", "quota-bytes=1GiB", "--json")).isZero();
        assertThat(out).startsWith("{\"prefix\":\"a\",\"quota-bytes\":1073741824,\"documents\":0,");
        assertThat(run("ls")).isZero();
        assertThat(out.lines())
                .containsExactly(
                        "prefix  documents       size  refused  settings",
                        "a               0        0 B        0  quota-bytes=1073741824",
                        "chat/           0        0 B        0  max-value-bytes=65536");
        assertThat(run("ls", "--json")).isZero();
        assertThat(out.lines()).hasSize(2).allMatch(line -> line.startsWith("{\"prefix\":\""));
        assertThat(run("show", "a")).isZero();
        assertThat(out).startsWith("space a: ").contains("(1.0 GiB)");
        assertThat(run("rm", "a")).isZero();
        assertThat(out).isEqualTo("space a is removed\n");
        assertThat(run("rm", "a")).isEqualTo(3);
        assertThat(err).isEqualTo("caravan: there is no space 'a'\n");
        assertThat(run("show", "a")).isEqualTo(3);
    }

    @Test
    void whatIsNoSettingIsAMistakeInTheUsage() {
        assertThat(run("set", "a", "no-such=1")).isEqualTo(2);
        assertThat(err).contains("no-such: a space has no such setting; it has max-value-bytes, ");
        assertThat(run("set", "a", "max-values=many")).isEqualTo(2);
        assertThat(err).contains("max-values: 'many' is not a number");
        assertThat(run("set", "a", "max-bytes=1 hour")).isEqualTo(2);
        assertThat(err).contains("max-bytes: '1 hour' is not a size");
        assertThat(run("set", "a", "retain-age=1500ms")).isEqualTo(2);
        assertThat(err).contains("retain-age: '1500ms' is not in whole seconds");
        assertThat(run("set", "a")).isEqualTo(2);
        assertThat(run("set", "", "max-values=1")).isEqualTo(1);
        assertThat(err).contains("a space's prefix must have 1 to 256 bytes");
    }

    @Test
    void eachSettingIsInTheHelpAndTheDocuments() throws IOException {
        String help = caravan(new ByteArrayOutputStream())
                .getSubcommands()
                .get("space")
                .getSubcommands()
                .get("set")
                .getUsageMessage();
        String document = Files.readString(Path.of("../docs/server/spaces.md"));
        String openApi =
                Files.readString(Path.of("src/main/resources/io/caravan/server/protocol/http/endpoint/openapi.json"));
        for (SpaceSetting setting : SpaceSetting.values()) {
            assertThat(help).contains("  " + setting.key() + " ");
            assertThat(document).contains("`" + setting.key() + "`");
            assertThat(openApi).contains("\"" + setting.key() + "\"");
        }
    }

    /** Each subcommand needs examples in its help and a section in the document with its own options. */
    @Test
    void helpAndTheDocumentTellOfEachCommand() throws IOException {
        String document = Files.readString(Path.of("../docs/reference/cli.md"));
        CommandLine command =
                caravan(new ByteArrayOutputStream()).getSubcommands().get("space");
        for (String name : new String[] {"set", "ls", "show", "rm"}) {
            CommandLine sub = command.getSubcommands().get(name);
            assertThat(sub.getUsageMessage())
                    .contains("Examples:", "caravan space " + name, "--password-file", "Exit codes:");
            assertThat(sub.getCommandSpec().options().stream().map(OptionSpec::longestName))
                    .as("no options of its own")
                    .allMatch(document::contains);
            assertThat(document).contains("\n### `space " + name);
        }
    }
}
