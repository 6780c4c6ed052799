/**
 * S3 servers that others have made, in processes of their own: {@link io.caravan.bench.s3.S3Software} says which there are
 * and installs them, an {@link io.caravan.bench.s3.S3Server} is one that runs, and can be killed.
 */
@NullMarked
package io.caravan.bench.s3;

import org.jspecify.annotations.NullMarked;
