package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.server.archive.S3Server;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the URLs of archive locations. */
class ObjectStoresTest {
    @TempDir
    Path directory;

    @Test
    void acceptsAbsoluteAndRelativeDirectories() {
        Path here = Path.of("").toAbsolutePath();
        assertLocation("file:" + directory, "file:" + directory);
        assertLocation("file://" + directory, "file:" + directory);
        assertLocation("file:some/archive", "file:" + here.resolve("some/archive"));
        assertLocation("file:../archive", "file:" + here.resolveSibling("archive"));
    }

    @ParameterizedTest
    @CsvSource({
        "s3://bucket, s3://bucket",
        "s3://bucket/, s3://bucket",
        "s3://bucket/prefix, s3://bucket/prefix",
        "s3://my.bucket-1/a/b c=d/, s3://my.bucket-1/a/b c=d"
    })
    void acceptsBucketsWithOptionalPrefix(String url, String location) {
        assertLocation(url, location);
    }

    private static void assertLocation(String url, String location) {
        try (ObjectStore store = ObjectStores.place(url).open(S3Server.through(1))) {
            assertThat(store.location()).isEqualTo(location);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "archive",
                "/archive",
                "file:",
                "file: ",
                "file://host/archive",
                "file:a\0b",
                "s3:bucket",
                "s3://",
                "s3:///prefix",
                "s3://b",
                "s3://bucket//prefix",
                "s3://bucket/a//b",
                "s3://bucket/a/../b",
                "s3://bucket/a?b",
                "s3://key:secret@bucket/prefix",
                "S3://bucket",
                "https://bucket.s3.amazonaws.com",
                "none"
            })
    void rejectsInvalidLocations(String url) {
        assertThatThrownBy(() -> ObjectStores.place(url))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not a valid archive location");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost:9000", "ftp://host", "http:///path", "https://host/bucket", "http://user:pass@host:1"
            })
    void rejectsInvalidEndpoints(String endpoint) {
        assertThatThrownBy(() -> new S3Options(URI.create(endpoint), null, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("S3 endpoint");
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://user:secret@host", "http://user:sec@ret@host:1", "https://secret@host/"})
    void rejectsEndpointsWithCredentials(String endpoint) {
        assertThatThrownBy(() -> new S3Options(URI.create(endpoint), null, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must not contain a user or a password")
                .hasMessageNotContainingAny("sec", "host");
    }
}
