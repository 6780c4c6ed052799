package io.caravan.server.cli.space;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.cli.Main;
import io.caravan.server.cli.client.CommandRun;
import io.caravan.server.cli.client.ServedStore;
import io.caravan.server.cli.common.Console;
import io.caravan.server.document.space.SpaceSetting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Tests the {@code caravan space} command against a server. */
class SpaceCommandTest {
    @AutoClose
    private final ServedStore served = new ServedStore();

    private String out = "";
    private String err = "";

    private CommandRun run(String subcommand, String... words) {
        List<String> first = List.of("space", subcommand, "--server", served.address());
        CommandRun run = CommandRun.at(null, CommandRun.words(first, words));
        out = run.out();
        err = run.err();
        return run;
    }

    @Test
    void setsShowsListsAndRemovesSpaces() {
        run("set", "chat/", "retain-values=1000", "max-value-bytes=64KiB").exits(0);
        assertThat(out)
                .startsWith("space 'chat/': 0 documents, 0 B\n")
                .contains("  max-value-bytes    65536  (64.0 KiB)\n", "  retain-values      1000\n");
        run("set", "chat/", "retain-values=0").exits(0);
        assertThat(out).doesNotContain("retain-values");
        run("set", "a", "quota-bytes=1GiB", "--json").exits(0);
        assertThat(out).startsWith("{\"prefix\":\"a\",\"quota-bytes\":1073741824,\"documents\":0,");
        run("ls").exits(0);
        assertThat(out.lines())
                .containsExactly(
                        "prefix  documents       size  rejected  settings",
                        "a               0        0 B         0  quota-bytes=1073741824",
                        "chat/           0        0 B         0  max-value-bytes=65536");
        run("ls", "--json").exits(0);
        assertThat(out.lines()).hasSize(2).allMatch(line -> line.startsWith("{\"prefix\":\""));
        run("ls", "a").exits(0);
        assertThat(out).startsWith("space 'a': ").contains("(1.0 GiB)");
        run("set", "a", "retain-age=12h", "flush-delay=50ms").exits(0);
        assertThat(out)
                .contains(
                        "  retain-age         43200  (12h)\n",
                        "  flush-delay        50  (ms)\n",
                        "\nsince the server started: 0 writes of 0 B, 0 values retired; rejected for a size 0, a quota");
        run("rm", "a").exits(0);
        assertThat(out).isEqualTo("space 'a' is removed\n");
        run("rm", "a").exits(3);
        assertThat(err).isEqualTo("caravan: there is no space 'a'\n");
        run("ls", "a").exits(3);
    }

    @Test
    void rejectsInvalidSettings() {
        run("set", "a", "no-such=1").exits(2);
        assertThat(err).contains("no-such: a space has no such setting; it has max-value-bytes, ");
        run("set", "a", "max-values=many").exits(2, "max-values: 'many' is not a number");
        run("set", "a", "max-bytes=1 hour").exits(2, "max-bytes: '1 hour' is not a size");
        run("set", "a", "retain-age=1500ms").exits(2, "retain-age: '1500ms' is not in whole seconds");
        run("set", "a").exits(2);
        run("set", "", "max-values=1").exits(2, "a space's prefix must have 1 to 256 bytes");
        run("ls", "a".repeat(257)).exits(2, "a space's prefix must have 1 to 256 bytes");
        run("rm", "").exits(2, "a space's prefix must have 1 to 256 bytes");
    }

    @Test
    void eachSettingIsDocumented() throws IOException {
        String help = Main.commandLine(Map.of(), Console.system())
                .getSubcommands()
                .get("space")
                .getSubcommands()
                .get("set")
                .getUsageMessage();
        String document = Files.readString(Path.of("../docs/server/spaces.md"));
        String openApi = Files.readString(Path.of("src/main/resources/io/caravan/server/protocol/http/openapi.json"));
        for (SpaceSetting setting : SpaceSetting.values()) {
            assertThat(help).contains("  " + setting.key() + " ");
            assertThat(document).contains("`" + setting.key() + "`");
            assertThat(openApi).contains("\"" + setting.key() + "\"");
        }
    }

    @Test
    void helpOfEachCommandHasExamples() {
        CommandLine command =
                Main.commandLine(Map.of(), Console.system()).getSubcommands().get("space");
        for (String name : new String[] {"set", "ls", "rm"}) {
            assertThat(command.getSubcommands().get(name).getUsageMessage())
                    .contains("Examples:", "caravan space " + name, "--password-file", "Exit codes:");
        }
    }
}
