package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.object.ObjectStores;
import io.caravan.testing.FaultProxy;
import io.caravan.testing.HttpAnswer;
import io.caravan.testing.Patient;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Nobody archives to a server on which two would not notice each other. */
@Patient
class ArchiveConditionsTest {
    private static final UUID STORE = new UUID(1, 2);

    @Test
    void anArchiveIsNotClaimedWhereConditionsAreIgnored() throws Exception {
        try (S3Server server = S3Server.startCareless();
                ObjectStore objects =
                        ObjectStores.place(S3Server.url("archive")).open(server.options())) {
            for (int time = 0; time < 2; time++) {
                assertThatThrownBy(() -> claim(objects))
                        .isInstanceOfSatisfying(
                                ObjectStoreException.class,
                                refused -> assertThat(refused.kind()).isEqualTo(Kind.CORRUPT))
                        .hasMessageContaining("ignores If-None-Match");
            }
            assertThat(keys(objects)).isEmpty();
        }
    }

    @Test
    void anOwnerNeedNotBePermittedToDelete() throws Exception {
        try (S3Server server = S3Server.start();
                FaultProxy proxy = FaultProxy.before(server.port());
                ObjectStore objects =
                        ObjectStores.place(S3Server.url("archive")).open(S3Server.through(proxy.port()))) {
            proxy.answer(
                    Integer.MAX_VALUE,
                    line -> line.startsWith("DELETE "),
                    HttpAnswer.s3(403, "AccessDenied", "User is not authorized to perform: s3:DeleteObject"));
            claim(objects).checkOwner();
            claim(objects).checkOwner();
            assertThat(proxy.answered()).as("servers are checked once a store").isOne();
            assertThat(keys(objects)).contains("archive.json").hasSize(2);
        }
    }

    private static Archive claim(ObjectStore objects) {
        return Claims.claim(objects, STORE, "host/1", InstantSource.system());
    }

    private static List<String> keys(ObjectStore objects) {
        List<String> keys = new ArrayList<>();
        objects.list("", "", listed -> keys.add(listed.key()));
        return keys;
    }
}
