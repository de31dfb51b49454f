"""Runs an S3 server, moto, for remote_s3_test: s3_server.py PORT FOLDER

The server checks signatures and rights. It has a bucket "programs" and the users below. It writes each user's key to a
file of the user's name in FOLDER, and creates FOLDER/is-ready once it checks rights.
"""

import json
import os
import sys
import threading

# This process is also a client (boto3), and a proxy could not reach the server.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"

import boto3
from moto import settings
from moto.s3.models import S3Backend
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
RIGHTS = {
    "writer": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"],
    "reader": ["s3:GetObject", "s3:ListBucket"],
    "nobody": ["s3:ListBucket"],
}


# S3 may list fewer objects at a time than a client asks for, here so few that a test needs no thousand.
MOST_LISTED = 100
list_objects_v2 = S3Backend.list_objects_v2
S3Backend.list_objects_v2 = lambda self, max_keys, **named: list_objects_v2(
    self, max_keys=min(max_keys, MOST_LISTED), **named
)


def write_file(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(text)


def add_user(iam, name, actions):
    """Returns the user's key as a line of a file with credentials."""
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return f"{key['AccessKeyId']}:{key['SecretAccessKey']}\n"


def main(port, folder):
    ThreadedMotoServer(ip_address="127.0.0.1", port=port).start()
    client = {
        "endpoint_url": f"http://127.0.0.1:{port}",
        "region_name": REGION,
        "aws_access_key_id": "any",
        "aws_secret_access_key": "any",
    }
    boto3.client("s3", **client).create_bucket(
        Bucket="programs", CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    iam = boto3.client("iam", **client)
    for name, actions in RIGHTS.items():
        write_file(f"{folder}/{name}", add_user(iam, name, actions))
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
    write_file(f"{folder}/is-ready", "")
    threading.Event().wait()


main(int(sys.argv[1]), sys.argv[2])
