package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Membership changes that a group accepts or rejects. Node a leads. */
final class MembershipChangeTest {
    private static final Host A = new Host("a", "127.0.0.1", 1);
    private static final Host B = new Host("b", "127.0.0.1", 2);
    private static final Host C = new Host("c", "127.0.0.1", 3);
    private static final Host D = new Host("d", "127.0.0.1", 4);

    private static void check(@Nullable String leaving, @Nullable Host joining, List<Host> hosts, String... reachable) {
        new MembershipChange(leaving, joining).check(hosts, "a", Set.of(reachable)::contains);
    }

    private static void refused(String why, @Nullable String leaving, @Nullable Host joining, String... reachable) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> check(leaving, joining, List.of(A, B, C), reachable))
                .withMessageContaining(why);
    }

    @Test
    void idsAndAddressesAreEachHostsOwn() {
        refused("has a host a already", null, new Host("a", "127.0.0.1", 4), "a", "b", "c");
        refused("has the address 127.0.0.1:2 already", null, new Host("d", "127.0.0.1", 2), "a", "b", "c");
        refused("needs an id of its own", "c", new Host("c", "127.0.0.1", 4), "a", "b");
        refused("has the address 127.0.0.1:3 already", "c", new Host("d", "127.0.0.1", 3), "a", "b");
    }

    @Test
    void theLeaderStays() {
        refused("hand leadership to another host first", "a", null, "a", "b", "c");
        refused("hand leadership to another host first", "a", D, "a", "b", "c");
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> check("a", null, List.of(A), "a"))
                .withMessageContaining("leads");
    }

    @Test
    void aHostThatIsNotThereDoesNotLeave() {
        refused("has no host z", "z", null, "a", "b", "c");
    }

    @Test
    void aHostThatAnswersDoesNotLeave() {
        refused("host c answered a moment ago: stop it first", "c", null, "a", "b", "c");
        refused("host c answered a moment ago: stop it first", "c", D, "a", "b", "c");
    }

    @Test
    void theHostsThatThereWouldBeIncludeAMajorityThatAnswers() {
        refused("of the 2 hosts that the group would have only 1 can be reached", "b", null, "a");
        check("b", null, List.of(A, B, C), "a", "c");
        check("b", D, List.of(A, B, C), "a", "c");
        check(null, D, List.of(A, B, C), "a", "c");
        check("b", null, List.of(A, B), "a");
    }

    @Test
    void saysWhatItIs() {
        assertThat(new MembershipChange(null, D)).hasToString("host d@127.0.0.1:4 joins the group");
        assertThat(new MembershipChange("c", null)).hasToString("host c leaves the group");
        assertThat(new MembershipChange("c", D)).hasToString("host d@127.0.0.1:4 takes the place of host c");
    }
}
