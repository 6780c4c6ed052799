package io.caravan.server.protocol.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.AsciiString;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandTest {

    private static Command command(String word) {
        return new Command(Map.of(), word.getBytes(UTF_8));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 7, -7, Long.MAX_VALUE, Long.MIN_VALUE})
    void parsesIntegers(long number) {
        assertThat(command(Long.toString(number)).number(0)).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "-", "+1", " 1", "1 ", "1x", "--1", "\u0661", "9223372036854775808", "000000000000000000001"
            })
    void rejectsInvalidIntegers(String word) {
        assertThatThrownBy(() -> command(word).number(0))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("value is not an integer or out of range");
    }

    @Test
    void normalizesKeywordsAndTruncatesLongWords() {
        assertThat(command("rPush").keyword(0)).isEqualTo("RPUSH");
        assertThat(command("x".repeat(32)).is(0, "X".repeat(32))).isTrue();
        assertThat(command("x".repeat(33)).is(0, "X".repeat(32))).isFalse();
        assertThat(command("x".repeat(1 << 20)).keyword(0)).hasSize(33);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RPUSH", "rpush", "rPush"})
    void findsCommandInAnySpelling(String word) {
        assertThat(specOf(word).name).isEqualTo("RPUSH");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "RPUSHY", "RPUS", "\u00ffPUSH", "unknown", "UNKNOWN"})
    void doesNotFindUnknownCommand(String word) {
        assertThat(specOf(word)).isSameAs(CommandSpec.UNKNOWN);
        assertThat(specOf("RPUSH" + "x".repeat(1 << 20))).isSameAs(CommandSpec.UNKNOWN);
    }

    private static CommandSpec specOf(String word) {
        CommandSpec push = CommandSpec.list("RPUSH", -3, CommandSpec.Keys.FIRST, "", "");
        Map<AsciiString, CommandSpec> specs = Map.of(AsciiString.of("RPUSH"), push, AsciiString.of("rpush"), push);
        return new Command(specs, word.getBytes(UTF_8)).spec;
    }

    @Test
    void checksNumberOfWords() {
        CommandSpec three = CommandSpec.list("LTRIM", 3, CommandSpec.Keys.FIRST, "", "");
        assertThat(RespFixture.command(three, "LTRIM", "k").hasValidSize()).isFalse();
        assertThat(RespFixture.command(three, "LTRIM", "k", "0").hasValidSize()).isTrue();
        assertThat(RespFixture.command(three, "LTRIM", "k", "0", "1").hasValidSize())
                .isFalse();
        CommandSpec atLeastTwo = CommandSpec.list("RPUSH", -2, CommandSpec.Keys.FIRST, "", "");
        assertThat(RespFixture.command(atLeastTwo, "RPUSH").hasValidSize()).isFalse();
        assertThat(RespFixture.command(atLeastTwo, "RPUSH", "k").hasValidSize()).isTrue();
        assertThat(RespFixture.command(atLeastTwo, "RPUSH", "k", "v").hasValidSize())
                .isTrue();
    }
}
